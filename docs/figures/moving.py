"""The moving picture of the README: a coin that rolls, and what three methods make of its energy.

python docs/figures/moving.py        # writes docs/figures/rolling-coin.gif
"""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from integrators import integrate
from mechanics.systems.rolling.tilting_disk import tilting_disk
from studies.rolling_disk.runs import Reference
from studies.rolling_disk.scene import PATH, draw_disk, stage

PICTURE = Path(__file__).with_name("rolling-coin.gif")
SECONDS, FRAMES, RATE, RADIUS = 12.0, 120, 20, 1.0
STEPS = {"RKMK4": 0.02, "DLA": 0.02, "GAUSS8": 0.1}
NAMES = {"RKMK4": "Runge–Kutta 4", "DLA": "Lagrange–d'Alembert", "GAUSS8": "GAUSS8"}
START = {"omega": (0.0, 1.5, 3.0), "tilt": 0.4}
SIZE, DPI, TONES = (8.0, 3.3), 90, 64


def motion() -> Reference:
    """Where the coin is."""
    coin = tilting_disk(**START)
    t = np.linspace(0.0, SECONDS, 20 * FRAMES + 1)
    y = integrate(coin.problem(), (0.0, SECONDS), t_eval=t, progress=False).y
    return Reference(t, y, contact(y), 0.0, None)


def contact(y):
    """The lowest point of the edge, (k, 2)."""
    w, a, b, c = y[:, 3:7].T
    axis = np.stack([2 * (a * c + w * b), 2 * (b * c - w * a), w * w - a * a - b * b + c * c], axis=-1)
    down = np.stack([axis[:, 2] * axis[:, 0], axis[:, 2] * axis[:, 1], axis[:, 2] ** 2 - 1.0], axis=-1)
    return y[:, :2] + RADIUS * (down / np.linalg.norm(down, axis=1, keepdims=True))[:, :2]


def errors():
    """Method → times, and the largest change of the energy so far in units of its start, of a coin that rolls on."""
    coin, found = tilting_disk(**START), {}
    for method, step in STEPS.items():
        posed = coin.constrained_problem() if method == "DLA" else coin.problem()
        run = integrate(posed, method, (0.0, 100 * SECONDS), step=step, progress=False)
        change = np.maximum.accumulate(np.abs(run["energy"] / run["energy"][0] - 1.0))
        found[method] = run.t, np.maximum(change, 1e-16)
    return found


def frames(known: Reference, energies):
    """The pictures one after the other."""
    fig = Figure(figsize=SIZE, dpi=DPI, facecolor="white")
    canvas = FigureCanvasAgg(fig)
    space = fig.add_axes((0.0, 0.0, 0.56, 1.0), projection="3d")
    stage(space, known, RADIUS)
    (line,) = space.plot([], [], [], color=PATH, linewidth=1.6, zorder=1)
    plane = fig.add_axes((0.63, 0.17, 0.335, 0.7))
    plane.set(xlim=(0, 100 * SECONDS), ylim=(1e-16, 1.0), yscale="log", xlabel="seconds of motion")
    plane.set_title("relative error of the energy", loc="left", fontsize=9)
    plane.grid(alpha=0.25)
    curves = {
        method: plane.plot([], [], color=colour, linewidth=1.8)[0]
        for method, colour in zip(STEPS, ("#D55E00", "#0072B2", "#009E73"), strict=True)
    }
    for method, (t, change) in energies.items():
        below = method == "DLA"
        plane.text(
            0.97 * t[-1], change[-1] * (0.4 if below else 2.2), f"{NAMES[method]}, {STEPS[method]} s",
            ha="right", va="top" if below else "bottom", fontsize=9, color=curves[method].get_color(),
        )  # fmt: skip
    artists: list = []
    for frame in range(FRAMES):
        at = round(frame * (len(known.t) - 1) / (FRAMES - 1))
        for artist in artists:
            artist.remove()
        artists[:] = draw_disk(space, known.y[at], RADIUS)
        past = known.contact[: at + 1]
        line.set_data_3d(past[:, 0], past[:, 1], np.zeros(len(past)))
        for method, (t, change) in energies.items():
            shown = t <= (frame + 1) / FRAMES * t[-1]
            curves[method].set_data(t[shown], change[shown])
        canvas.draw()
        yield Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])


def main() -> None:
    """Draw it."""
    pictures = list(frames(motion(), errors()))
    tones = pictures[FRAMES // 2].quantize(TONES)
    few = [picture.quantize(palette=tones, dither=Image.Dither.NONE) for picture in pictures]
    few[0].save(PICTURE, save_all=True, append_images=few[1:], duration=1000 // RATE, loop=0, optimize=True)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1e6:.2f} MB, {FRAMES} frames")


if __name__ == "__main__":
    main()
