"""Every ready-made system by name, in its default form and at its default start; a new one is one file and one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from integrators.problem import Problem, pose
from integrators.problem.posing import EXPECTED
from liegroup.modules import Later
from mechanics.systems.system import Registry, System, View, hint

if TYPE_CHECKING:
    from mechanics.mechanism import Mechanism
    from mechanics.nonholonomic.system import NonholonomicSystem

_FORCED = ("body_coordinates",)
"""Body coordinates take neither force elements nor prescribed motions."""


def _later(home: str, *arguments: Any, **options: Any) -> Later:
    """The function in a file of these rooms, "rolling.car" or "loops.rssr:started", with what it is given."""
    module, _, name = home.partition(":")
    return Later(f"{__package__}.{module}:{name or module.rpartition('.')[2]}", *arguments, **options)


# fmt: off
SYSTEMS = Registry(
    System("free-rigid-body", "body", _later("bodies.free_rigid_body"),
           "Euler's top: no torque, solved by Jacobi's elliptic functions", "Jacobi 1850"),
    System("full-body", "body", _later("bodies.full_body"),
           "Two rigid bodies under their mutual gravity", "Maciejewski 1995; Lee, Leok and McClamroch 2007"),
    System("heavy-top", "body", _later("bodies.heavy_top"),
           "A fast top that nutates and passes straight down", "Arnold, Brüls and Cardona 2015"),
    System("kepler", "body", _later("bodies.kepler"), "An ellipse with the attracting centre in a focus"),
    System("kovalevskaya-top", "body", _later("bodies.heavy_top:kovalevskaya_top"),
           "J₁ = J₂ = 2 J₃, centre of mass across the axis: a third invariant", "Kovalevskaya 1889"),
    System("lagrange-top", "body", _later("bodies.heavy_top:lagrange_top"),
           "A symmetric top, centre of mass on its axis"),
    System("pendulum", "body", _later("bodies.pendulum"),
           "The plane pendulum: swinging, turning over, or on the separatrix"),
    System("space-manipulator", "tree", _later("bodies.space_manipulator"),
           "Seven joints on a floating satellite", "Jia and others 2019"),
    System("flying-spaghetti", "elastic", _later("elastic.flying_spaghetti"),
           "A free rod of large deformations, thrown by a force and a moment", "Simo and Vu-Quoc 1988"),
    System("rubber-rod", "elastic", _later("elastic.rubber_rod"),
           "A rod of soft rubber swings on a ball hinge", "Lang, Linn and Arnold 2011"),
    System("four-bar", "loops", _later("loops.four_bar:started"), "Crank, coupler and rocker, turning for ever"),
    System("swinging-four-bar", "loops", _later("loops.four_bar:started", 0.0), "The same, swinging from rest"),
    System("double-four-bar", "loops", _later("loops.n_four_bar:started", 2),
           "Two parallelograms that pass singular positions (IFToMM benchmark A02)"),
    System("ten-four-bar", "loops", _later("loops.n_four_bar:started", 10), "Ten parallelograms in a row"),
    System("slider-crank", "loops", _later("loops.slider_crank:started"), "Crank, rod and block, turning for ever"),
    System("squeezer", "loops", _later("loops.andrews_squeezer:started"),
           "Seven bodies, three loops, a spring and a motor, within 0.03 s", "Schiehlen 1990", without=_FORCED),
    System("bricard", "loops", _later("loops.bricard:started"),
           "Five rods and six hinges in space, overconstrained (IFToMM benchmark A04)"),
    System("rssr", "loops", _later("loops.rssr:started"), "The spatial four-bar: a coupler on two balls"),
    System("governor", "loops", _later("loops.flyball_governor:started"),
           "The flyball governor with stiff springs (IFToMM benchmark A05)", without=_FORCED),
    System("rigid-governor", "loops", _later("loops.flyball_governor:started", True),
           "The same with rigid struts: two loops"),
    System("strandbeest-leg", "loops", _later("loops.strandbeest_leg:started"),
           "A leg of Jansen's Strandbeest: three loops"),
    System("peaucellier", "loops", _later("loops.peaucellier:started"),
           "Seven rods that draw a straight line: three loops"),
    System("walking-mechanism", "loops", _later("loops.walking_mechanism:started"),
           "A hull, a driven disc and two legs on the ground", "Ivanov 2022", without=_FORCED),
    System("two-wheeled-pendulum", "wheels", _later("rolling.two_wheeled_pendulum:started"),
           "An inverted pendulum on an axle with two wheels", "Pathak, Franch and Agrawal 2005"),
    System("mobile-manipulator", "wheels", _later("rolling.mobile_manipulator:started"),
           "An arm on a cart with two wheels and a caster"),
    System("wheeled-car", "wheels", _later("rolling.wheeled_car:started"), "A car on four wheels with suspended axles"),
    System("whipple-bicycle", "wheels", _later("rolling.whipple_bicycle:started"),
           "Four bodies on two wheels, balancing itself", "Meijaard, Papadopoulos, Ruina and Schwab 2007"),
    System("ball-on-a-table", "wheels", _later("rolling.ball_on_table:started"),
           "A ball that rolls on a table that turns freely"),
    System("vertical-disk", "nonholonomic", _later("rolling.vertical_disk"),
           "A disk that rolls and stays upright", "Bloch 2003"),
    System("rolling-disk", "nonholonomic", _later("rolling.rolling_disk"),
           "A disk that rolls on its edge, in Euler angles", "Appell 1900; Korteweg 1900"),
    System("tilting-disk", "nonholonomic", _later("rolling.tilting_disk"),
           "A disk that rolls on its edge, on SE(3)", "Routh 1905"),
    System("thick-disk", "nonholonomic", _later("rolling.tilting_disk", section=0.1, omega=(0.5, 2.0, 4.0)),
           "A wheel with a thick rim that rolls on its edge", "Routh 1905"),
    System("eulers-disk", "nonholonomic", _later("rolling.eulers_disk"),
           "A coin that spins ever flatter and ever faster", "Moffatt 2000"),
    System("chaplygin-sleigh", "nonholonomic", _later("rolling.chaplygin_sleigh"),
           "A rigid body on a skate", "Chaplygin 1911"),
    System("sleigh-with-moving-mass", "nonholonomic", _later("rolling.sleigh_with_moving_mass"),
           "A sleigh with a mass on a transverse track", "Osborne and Zenkov 2005"),
    System("knife-edge", "nonholonomic", _later("rolling.knife_edge"),
           "A skate on an inclined plane that never runs down", "Neimark and Fufaev 1972"),
    System("suslov", "nonholonomic", _later("rolling.suslov"),
           "A body about a point that never turns about one of its axes", "Suslov 1946"),
    System("snakeboard", "nonholonomic", _later("rolling.snakeboard"),
           "A board on two steerable trucks, with a rotor", "Ostrowski, Lewis, Murray and Burdick 1994"),
    System("snakeboard-driven", "nonholonomic", _later("rolling.snakeboard", rotor_torque=1.0, truck_torque=0.4),
           "The same, driven by rotor and trucks", "Ostrowski, Lewis, Murray and Burdick 1994"),
    System("car", "nonholonomic", _later("rolling.car"), "A car with front-wheel steering and no slip", "Bloch 2003"),
    System("car-driven", "nonholonomic", _later("rolling.car", thrust=0.7, steering_torque=0.2),
           "The same, driven and steered", "Bloch 2003"),
    System("roller-racer", "nonholonomic", _later("rolling.roller_racer"),
           "A scooter that moves by swinging its handlebar", "Tsakiris 1995"),
    System("rattleback", "nonholonomic", _later("rolling.rattleback"),
           "A half ellipsoid that reverses its spin", "Kane and Levinson 1982"),
    System("rattleback-damped", "nonholonomic", _later("rolling.rattleback", damping=1e-4),
           "The same, damped", "Kane and Levinson 1982"),
    System("chaplygin-ball", "nonholonomic", _later("rolling.chaplygin_ball"),
           "A balanced ball with three different moments", "Chaplygin 1903"),
    System("routh-sphere", "nonholonomic", _later("rolling.routh_sphere"),
           "A sphere with its centre of mass off its centre", "Routh 1905"),
    System("ball-on-turntable", "nonholonomic", _later("rolling.ball_on_turntable"),
           "A ball on a turntable: circles that do not follow it", "Earnshaw 1844"),
    System("ball-in-cylinder", "nonholonomic", _later("rolling.ball_in_cylinder"),
           "A ball in a vertical cylinder: it climbs and sinks for ever", "Routh 1905"),
    System("nonholonomic-particle", "nonholonomic", _later("rolling.nonholonomic_particle"),
           "A point with ż = y ẋ", "Rosenberg 1977"),
    System("harmonic-particle", "nonholonomic", _later("rolling.nonholonomic_particle", stiffness=1.3),
           "The same in a harmonic potential", "Cortés and Martínez 2001"),
    System("contact-oscillator", "nonholonomic", _later("rolling.driven_pair", "CO3"),
           "A pair driven through a contact constraint", "McLachlan and Perlmutter 2006"),
    System("contact-chain", "nonholonomic", _later("rolling.contact_chain"),
           "A contact-type oscillator: reversible and chaotic", "McLachlan and Perlmutter 2006"),
    System("driven-pair", "nonholonomic", _later("rolling.driven_pair", "RVF4"),
           "A pair driven through a variable transmission", "Modin and Verdier 2020"),
    System("knife-edge-in-bowl", "nonholonomic", _later("rolling.driven_pair", "B3"),
           "A driven knife edge in a bowl", "Modin and Verdier 2020"),
)
"""All of them: ``SYSTEMS["four-bar"].problem()``; ``print(SYSTEMS)`` lists them."""
# fmt: on


MECHANISMS: View[Problem] = View(SYSTEMS, "loops", lambda system: system.problem)
"""Those with loops: functions that return a problem; each takes `projection`, as `Mechanism.problem` does."""
NONHOLONOMIC: View[NonholonomicSystem] = View(SYSTEMS, "nonholonomic", lambda system: system.make)
"""The nonholonomic ones: functions that return a NonholonomicSystem."""
WHEELED: View[Mechanism] = View(
    SYSTEMS, "wheels", lambda system: lambda **options: system.mechanism(**options).with_start()
)
"""Those on wheels: functions that return a Mechanism at rest at its home."""


@pose.register(str)
def _named(name: str) -> Problem:
    """A string poses no problem: the system of that name, or one with a name near to it, does."""
    system = SYSTEMS[name].name if name in SYSTEMS else None
    found = f"give the system, mechanics.systems.SYSTEMS[{system!r}]" if system else f"no system: {hint(name, SYSTEMS)}"
    raise TypeError(f"problem: {name!r} is a string, {EXPECTED}; {found}")
