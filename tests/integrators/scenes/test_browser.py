"""Pages in a browser: they draw, they play, they complain of nothing."""

import hashlib
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.scenes import animate, points
from integrators.scenes.page import WEB
from liegroup import rn, so3

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--window-size=900,600",
    "--virtual-time-budget=20000",
    "--enable-logging=stderr",
    "--dump-dom",
)
WATCH = """<script>
window.faults = [];
window.addEventListener("error", (event) => faults.push(event.message));
window.addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
for (const kind of ["error", "warn"]) console[kind] = (...words) => faults.push(words.join(" "));
// a clock of its own: a busy machine without a screen may not ask for a second frame before the time of the test is up
let now = 0;
window.requestAnimationFrame = (draw) => setTimeout(() => draw((now += 50)), 50);
</script>"""
ASK = """<script type="module">
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
while (!window.liemech) await wait(50);
liemech.goFrame(0);
const seen = new Set();
for (let k = 0; k < 100 && seen.size < 3; k++) {
  seen.add(liemech.frame);
  await wait(100);
}
const canvas = document.createElement("canvas"), view = document.getElementById("view");
[canvas.width, canvas.height] = [view.width, view.height];
const pen = canvas.getContext("2d");
pen.drawImage(view, 0, 0);
const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
const { frame, drawn } = liemech;
const found = { seen: seen.size, frame, drawn, colours: new Set(pixels).size, faults: window.faults };
liemech.play(false);
liemech.goFrame(1e9);
found.last = liemech.frame;
found.shown = document.getElementById("clock").textContent;
const answer = document.createElement("pre");
answer.id = "answer";
answer.textContent = JSON.stringify(found);
document.body.append(answer);
</script>"""


def swing(t, y):
    return np.array([y[1], -np.sin(y[0])])


def run(step):
    scene = points(lambda y: [[np.sin(y[0]), -np.cos(y[0])]], ["bob"], anchored=True)
    energy = {"energy": lambda t, y: np.array([0.5 * y[1] ** 2 - np.cos(y[0])])}
    problem = Problem(rn(2), [1.0, 0.0], swing, invariants=energy, model="swing", scene=scene)
    return integrate(problem, "RKMK4", (0.0, 10.0), step=step, progress=False)


def turning():
    problem = Problem(so3, [1.0, 0.0, 0.0, 0.0], lambda t, y: np.array([0.3, 0.0, 1.0]), model="turn")
    return integrate(problem, "RKMK4", (0.0, 10.0), step=0.05, progress=False)


PAGES = {
    "two side by side": lambda: [run(0.05), run(0.2)],
    "a box on a group": turning,
    "one configuration": lambda: turning().film(frames=1),
}


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_draws_and_plays_without_complaint(name, tmp_path):
    path = animate(PAGES[name](), tmp_path / "page.html")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{ASK}</body>"), encoding="utf-8")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    answer = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, flags=re.S)
    assert answer, done.stderr[-2000:]
    found = json.loads(answer[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    assert found["faults"] == []
    assert not [line for line in done.stderr.splitlines() if ":CONSOLE" in line and "GPU stall" not in line]
    assert found["colours"] > 50, "the canvas is blank"
    assert found["drawn"] > 0
    if name == "one configuration":
        assert found["frame"] == found["last"] == 0
    else:
        assert found["seen"] > 1, "it does not play"
        assert (found["last"], found["shown"]) == (200, "t = 10.00 s")


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")
def test_the_player_is_a_module_without_errors_of_syntax(tmp_path):
    script = tmp_path / "player.mjs"
    script.write_text((WEB / "player.js").read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(["node", "--check", str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_files_of_others_are_as_they_came():
    """Two files of three.js, by the digests that their notice gives."""
    notice = (WEB / "THIRD_PARTY_LICENSES.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^([0-9a-f]{64})  (\S+)$", notice, flags=re.M)
    assert {name for _, name in listed} == {"three.module.min.js", "OrbitControls.js"}
    for digest, name in listed:
        assert hashlib.sha256((WEB / name).read_bytes()).hexdigest() == digest
    assert "The MIT License" in notice
