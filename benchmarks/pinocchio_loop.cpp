// Nanoseconds per call of Pinocchio's aba (or crba, or the derivatives of rnea or aba) in a C++ loop, the best of many short repeats, for a tree read from standard input:
//   repeats, calls per repeat, algorithm ("aba", "crba", "rnea_derivatives" or "aba_derivatives"), number of joints, then per joint
//   parent (0 is the base), kind, axis (3), rotation by rows (9), position (3), mass, centre of mass (3), inertia about it (xx xy xz yy yz zz)
// and, for 16 states, q and v and tau.  Kinds: RX RY RZ RU PX PY PZ PU S FF PLANAR.
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/multibody.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

using namespace pinocchio;

static JointModel joint(const std::string &kind, const Eigen::Vector3d &axis) {
  if (kind == "RX") return JointModelRX();
  if (kind == "RY") return JointModelRY();
  if (kind == "RZ") return JointModelRZ();
  if (kind == "RU") return JointModelRevoluteUnaligned(axis);
  if (kind == "PX") return JointModelPX();
  if (kind == "PY") return JointModelPY();
  if (kind == "PZ") return JointModelPZ();
  if (kind == "PU") return JointModelPrismaticUnaligned(axis);
  if (kind == "S") return JointModelSpherical();
  if (kind == "FF") return JointModelFreeFlyer();
  if (kind == "PLANAR") return JointModelPlanar();
  throw std::invalid_argument("unknown kind of joint " + kind);
}

static Eigen::VectorXd numbers(int n) {
  Eigen::VectorXd x(n);
  for (int i = 0; i < n; ++i) std::cin >> x[i];
  return x;
}

int main() {
  long repeats, calls;
  std::string algorithm;
  int joints;
  std::cin >> repeats >> calls >> algorithm >> joints;
  Model model;
  for (int i = 0; i < joints; ++i) {
    int parent;
    std::string kind;
    std::cin >> parent >> kind;
    const Eigen::Vector3d axis = numbers(3);
    const Eigen::VectorXd r = numbers(9);
    const Eigen::Vector3d position = numbers(3);
    Eigen::Matrix3d rotation;
    rotation << r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8];
    const double mass = numbers(1)[0];
    const Eigen::Vector3d com = numbers(3);
    const Eigen::VectorXd m = numbers(6);
    Eigen::Matrix3d inertia;
    inertia << m[0], m[1], m[2], m[1], m[3], m[4], m[2], m[4], m[5];
    const auto id = model.addJoint(parent, joint(kind, axis), SE3(rotation, position), "j" + std::to_string(i));
    model.appendBodyToJoint(id, Inertia(mass, com, inertia), SE3::Identity());
  }
  Data data(model);
  std::vector<Eigen::VectorXd> q, v, tau;
  for (int k = 0; k < 16; ++k) {
    q.push_back(numbers(model.nq));
    v.push_back(numbers(model.nv));
    tau.push_back(numbers(model.nv));
  }
  double best = 1e300, sum = 0.0;
  for (long repeat = 0; repeat < repeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (long k = 0; k < calls; ++k) {
      const int s = k & 15;
      if (algorithm == "aba")
        sum += aba(model, data, q[s], v[s], tau[s])[0];
      else if (algorithm == "aba_derivatives") {
        computeABADerivatives(model, data, q[s], v[s], tau[s]);
        sum += data.ddq_dq(0, 0);
      } else if (algorithm == "rnea_derivatives") {
        computeRNEADerivatives(model, data, q[s], v[s], tau[s]);
        sum += data.dtau_dq(0, 0);
      } else
        sum += crba(model, data, q[s])(0, 0);
    }
    const std::chrono::duration<double> d = std::chrono::steady_clock::now() - start;
    best = std::min(best, d.count() / calls);
  }
  std::cout.precision(17);
  std::cout << best * 1e9 << " " << sum << std::endl;
}
