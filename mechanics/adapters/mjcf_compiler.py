"""The program that has MuJoCo compile one MJCF file, in a process of its own: ``python -I mjcf_compiler.py``.

Standard input is JSON: `path`, the folders of modules; `file` or `text`; `processor` and `clock`, seconds after which
it ends, also if its caller has.  Standard output is an .npz with the arrays of `FIELDS` and `OPTIONS` that this version
of MuJoCo has, and `disabled`, the names of the flags that are off; or with `error`, what MuJoCo complains about.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import math
import os
import sys
from typing import Any

FIELDS = (
    "names", "nbody", "name_bodyadr", "body_parentid", "body_pos", "body_quat", "body_ipos", "body_iquat",
    "body_mass", "body_inertia", "body_jntadr", "body_jntnum", "body_mocapid", "body_gravcomp", "ngravcomp", "njnt",
    "name_jntadr", "jnt_type", "jnt_bodyid", "jnt_qposadr", "jnt_dofadr", "jnt_pos", "jnt_axis", "jnt_stiffness",
    "jnt_stiffnesspoly", "jnt_limited", "jnt_range", "qpos0", "qpos_spring", "nv", "dof_jntid", "dof_armature",
    "dof_damping", "dof_dampingpoly", "dof_frictionloss", "name_geomadr", "geom_contype", "geom_conaffinity",
    "neq", "name_eqadr", "eq_type", "eq_obj1id", "eq_obj2id", "eq_objtype", "eq_active0", "eq_data", "ntendon",
    "name_tendonadr", "nu", "name_actuatoradr", "nflex",
    "jnt_margin", "jnt_solref", "jnt_actfrclimited", "jnt_actfrcrange", "jnt_actgravcomp", "jnt_springyield",
    "jnt_solimp", "dof_invweight0", "dof_solref", "dof_solimp",
    "tendon_adr", "tendon_num", "tendon_stiffness", "tendon_stiffnesspoly", "tendon_lengthspring", "tendon_damping",
    "tendon_dampingpoly", "tendon_frictionloss", "tendon_limited", "tendon_range", "tendon_margin",
    "tendon_solref_lim", "tendon_solimp_lim", "tendon_solref_fri", "tendon_solimp_fri", "tendon_invweight0",
    "tendon_armature", "tendon_springyield", "tendon_actfrclimited", "tendon_actfrcrange", "wrap_type", "wrap_objid",
    "wrap_prm",
    "nactuator", "actuator_trntype", "actuator_trnid", "actuator_dyntype", "actuator_gaintype", "actuator_biastype",
    "actuator_gainprm", "actuator_biasprm", "actuator_gear", "actuator_ctrllimited", "actuator_ctrlrange",
    "actuator_forcelimited", "actuator_forcerange", "actuator_group", "actuator_plugin", "actuator_ctrlnum",
    "actuator_outnum", "actuator_delay", "actuator_armature", "actuator_damping", "actuator_dampingpoly",
    "site_bodyid", "site_pos", "site_quat",
    "ngeom", "geom_type", "geom_size", "geom_pos", "geom_quat", "geom_bodyid", "geom_rgba", "geom_group", "geom_matid",
    "geom_dataid", "mat_rgba", "mesh_vertadr", "mesh_vertnum", "mesh_vert", "mesh_faceadr", "mesh_facenum", "mesh_face",
    "geom_condim", "geom_priority", "geom_friction", "geom_solmix", "geom_solref", "geom_solimp", "geom_margin",
    "geom_gap", "geom_adhesion", "geom_surfacevel", "body_weldid", "body_invweight0", "exclude_signature",
    "pair_geom1", "pair_geom2", "pair_dim", "pair_friction", "pair_solref", "pair_solimp", "pair_margin", "pair_gap",
    "pair_adhesion", "pair_solreffriction",
    "nkey", "name_keyadr", "nsite", "name_siteadr", "site_bodyid", "site_pos", "site_quat",
)  # fmt: skip
"""Of MuJoCo's model (mjModel)."""
OPTIONS = (
    "gravity", "timestep", "density", "viscosity", "disableactuator", "enableflags", "o_margin", "o_solref", "o_solimp",
    "o_friction",
)  # fmt: skip
"""Of its options (mjOption)."""


def main() -> None:
    asked = json.load(sys.stdin)
    faulthandler.dump_traceback_later(asked["clock"], exit=True)
    limit(asked["processor"])
    result = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no result
    sys.path[:] = asked["path"]
    import mujoco
    import numpy as np

    try:
        if "text" in asked:
            made = arrays(mujoco.MjModel.from_xml_string(asked["text"]), mujoco.mjtDisableBit)
        else:
            made = arrays(mujoco.MjModel.from_xml_path(asked["file"]), mujoco.mjtDisableBit)
    except Exception as error:  # whatever it is, the caller says it of the file
        made = {"error": str(error)}
    packed = io.BytesIO()
    np.savez(packed, **made)
    result.write(packed.getvalue())
    result.close()


def limit(seconds: float) -> None:
    """End by SIGXCPU after so many seconds of the processor, without a core file, and before all others if the memory
    is full, where there are such limits.
    """
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb") as file:
        file.write(b"1000")
    if os.name != "posix":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    allowed = math.ceil(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (allowed if most == resource.RLIM_INFINITY else min(allowed, most), most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def arrays(model: Any, flags: Any) -> dict[str, Any]:
    """What the adapters look at."""
    made = {name: getattr(model, name) for name in FIELDS if hasattr(model, name)}
    made |= {name: getattr(model.opt, name) for name in OPTIONS if hasattr(model.opt, name)}
    made["names"] = bytearray(model.names)
    made["disabled"] = [name for name, bit in flags.__members__.items() if int(bit) & int(model.opt.disableflags)]
    return made


if __name__ == "__main__":
    main()
