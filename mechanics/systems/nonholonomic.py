"""Every nonholonomic system by name, in its default form; a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mechanics.constraints.system import NonholonomicSystem
from mechanics.systems.ball_in_cylinder import ball_in_cylinder
from mechanics.systems.ball_on_turntable import ball_on_turntable
from mechanics.systems.car import car
from mechanics.systems.chaplygin_ball import chaplygin_ball
from mechanics.systems.chaplygin_sleigh import chaplygin_sleigh
from mechanics.systems.contact_chain import contact_chain
from mechanics.systems.driven_pair import driven_pair
from mechanics.systems.eulers_disk import eulers_disk
from mechanics.systems.knife_edge import knife_edge
from mechanics.systems.nonholonomic_particle import nonholonomic_particle
from mechanics.systems.rattleback import rattleback
from mechanics.systems.roller_racer import roller_racer
from mechanics.systems.rolling_disk import rolling_disk
from mechanics.systems.routh_sphere import routh_sphere
from mechanics.systems.sleigh_with_moving_mass import sleigh_with_moving_mass
from mechanics.systems.snakeboard import snakeboard
from mechanics.systems.suslov import suslov
from mechanics.systems.tilting_disk import tilting_disk
from mechanics.systems.vertical_disk import vertical_disk

NONHOLONOMIC: dict[str, Callable[[], NonholonomicSystem]] = {
    "vertical-disk": vertical_disk,
    "rolling-disk": rolling_disk,
    "tilting-disk": tilting_disk,
    "thick-disk": partial(tilting_disk, section=0.1, omega=(0.5, 2.0, 4.0)),
    "eulers-disk": eulers_disk,
    "chaplygin-sleigh": chaplygin_sleigh,
    "sleigh-with-moving-mass": sleigh_with_moving_mass,
    "knife-edge": knife_edge,
    "suslov": suslov,
    "snakeboard": snakeboard,
    "snakeboard-driven": partial(snakeboard, rotor_torque=1.0, truck_torque=0.4),
    "car": car,
    "car-driven": partial(car, thrust=0.7, steering_torque=0.2),
    "roller-racer": roller_racer,
    "rattleback": rattleback,
    "rattleback-damped": partial(rattleback, damping=1e-4),
    "chaplygin-ball": chaplygin_ball,
    "routh-sphere": routh_sphere,
    "ball-on-turntable": ball_on_turntable,
    "ball-in-cylinder": ball_in_cylinder,
    "nonholonomic-particle": nonholonomic_particle,
    "harmonic-particle": partial(nonholonomic_particle, stiffness=1.3),
    "contact-oscillator": partial(driven_pair, "CO3"),
    "contact-chain": contact_chain,
    "driven-pair": partial(driven_pair, "RVF4"),
    "knife-edge-in-bowl": partial(driven_pair, "B3"),
}
