"""Every nonholonomic system by name, in its default form; a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems.rolling.ball_in_cylinder import ball_in_cylinder
from mechanics.systems.rolling.ball_on_turntable import ball_on_turntable
from mechanics.systems.rolling.car import car
from mechanics.systems.rolling.chaplygin_ball import chaplygin_ball
from mechanics.systems.rolling.chaplygin_sleigh import chaplygin_sleigh
from mechanics.systems.rolling.contact_chain import contact_chain
from mechanics.systems.rolling.driven_pair import driven_pair
from mechanics.systems.rolling.eulers_disk import eulers_disk
from mechanics.systems.rolling.knife_edge import knife_edge
from mechanics.systems.rolling.nonholonomic_particle import nonholonomic_particle
from mechanics.systems.rolling.rattleback import rattleback
from mechanics.systems.rolling.roller_racer import roller_racer
from mechanics.systems.rolling.rolling_disk import rolling_disk
from mechanics.systems.rolling.routh_sphere import routh_sphere
from mechanics.systems.rolling.sleigh_with_moving_mass import sleigh_with_moving_mass
from mechanics.systems.rolling.snakeboard import snakeboard
from mechanics.systems.rolling.suslov import suslov
from mechanics.systems.rolling.tilting_disk import tilting_disk
from mechanics.systems.rolling.vertical_disk import vertical_disk

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
