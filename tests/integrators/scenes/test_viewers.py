"""The viewers that people have show the bodies where the film has them; those that are not installed are left out."""

import numpy as np
import pytest

from integrators import integrate
from integrators.adapters import viewers
from mechanics.systems import SYSTEMS


@pytest.fixture(scope="module")
def film():
    return integrate(SYSTEMS["heavy-top"], "RKMK4", (0.0, 0.05), step=0.01, progress=False).film()


def test_mujoco_moves_the_bodies_from_outside(film):
    pytest.importorskip("mujoco")
    _, data, seek = viewers.to_mujoco(film)
    for frame in (0, len(film.t) - 1):
        seek(frame)
        assert data.time == film.t[frame]
        np.testing.assert_allclose(data.mocap_pos, film.positions[frame], atol=1e-15)
        np.testing.assert_allclose(data.mocap_quat, film.quaternions_wxyz[frame], atol=1e-15)
    assert abs(film.quaternions_wxyz[0] - film.quaternions_wxyz[-1]).max() > 1e-2


def test_rerun_writes_what_it_was_given(film, tmp_path):
    rerun = pytest.importorskip("rerun")
    path = tmp_path / "film.rrd"
    recording = rerun.RecordingStream("film")
    recording.save(str(path))
    assert viewers.to_rerun(film, recording) is recording
    recording.flush()
    assert path.stat().st_size > 1000


def test_viser_has_a_frame_for_every_body_and_a_slider(film):
    viser = pytest.importorskip("viser")
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        assert viewers.to_viser(film, server) is server
        assert {f"/{body.name}" for body in film.scene.bodies} <= set(server.scene._handle_from_node_name)
    finally:
        server.stop()


def test_what_is_not_installed_is_named_with_its_remedy(film, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(viewers.importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match="No module named 'rerun'; pip install rerun-sdk"):
        viewers.to_rerun(film)
