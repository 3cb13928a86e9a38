// Plays films: bodies with shapes and poses frame by frame, side by side, with their watched numbers.
// The page brings three.js as text, so that it needs no network.

const element = (id) => document.getElementById(id);
const text = (id) => element(id).textContent;
const link = (source) => URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
const threeLink = link(text("three"));
const THREE = await import(threeLink);
const { OrbitControls } = await import(link(text("orbit").replace("from 'three'", `from '${threeLink}'`)));

const { films, arrays, stage, title, subtitle, notes } = JSON.parse(text("films"));
const BODIES = ["#3b7dbd", "#e08a3c", "#4c9f70", "#b5657f", "#7f6fb3", "#c2a33a", "#5aa7b5", "#8d7b6a"];
const CURVES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8d7b6a", "#7f6fb3", "#c2a33a"];
const RECENT = 150; // frames of a path that are kept when only the recent part is shown
const FOV = 32;

// --- data -----------------------------------------------------------------------------------------------------------

const decoded = arrays.map(({ type, data }) => {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  return new { f4: Float32Array, f8: Float64Array, u4: Uint32Array }[type](bytes.buffer);
});
for (const film of films) {
  for (const key of ["t", "poses", "paths"]) film[key] = decoded[film[key]];
  for (const curve of film.curves)
    for (const key of ["change", "least", "greatest"]) curve[key] = decoded[curve[key]];
}
const longest = films.reduce((a, b) => (span(b) > span(a) ? b : a));
const frames = Math.max(...films.map((film) => film.t.length));

function span(film) {
  return Math.abs(film.t[film.t.length - 1] - film.t[0]);
}

/** The last frame of a film at or before a time that has passed since the start. */
function frameAt(film, passed) {
  let low = 0, high = film.t.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (Math.abs(film.t[middle] - film.t[0]) <= passed * (1 + 1e-12)) low = middle;
    else high = middle - 1;
  }
  return low;
}

// --- words ----------------------------------------------------------------------------------------------------------

element("title").textContent = title;
element("subtitle").textContent = subtitle;
const warnings = films.map((film) => film.warning && (films.length > 1 ? `${film.title}: ` : "") + film.warning);
element("warning").textContent = warnings.filter(Boolean).join(" · ");
element("warning").hidden = !element("warning").textContent;
element("notes").textContent = notes.join(" ");

// --- bodies ---------------------------------------------------------------------------------------------------------

const vector = (a) => new THREE.Vector3(...a);

function shown(shape, colour) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(decoded[shape.vertices], 3));
  if (shape.faces === undefined) {
    return new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: shape.colour ?? colour }));
  }
  geometry.setIndex(new THREE.BufferAttribute(decoded[shape.faces], 1));
  geometry.computeVertexNormals();
  const clear = shape.opacity < 1;
  const material = new THREE.MeshStandardMaterial({
    color: shape.colour ?? colour, roughness: 0.62, metalness: 0.05, opacity: shape.opacity, transparent: clear,
    depthWrite: !clear, side: THREE.DoubleSide,
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.castShadow = !clear;
  mesh.receiveShadow = !clear;
  return mesh;
}

function tieOf(radius) {
  const mesh = new THREE.Mesh(
    new THREE.CylinderGeometry(radius, radius, 1, 10).translate(0, 0.5, 0),
    new THREE.MeshStandardMaterial({ color: "#8a8f98", roughness: 0.7 }),
  );
  mesh.castShadow = true;
  return mesh;
}

/** A flat strip along a path on the floor; a plain line for paths in space. */
function pathOf(points, colour, contact, width) {
  const geometry = new THREE.BufferGeometry(), count = points.length / 3, up = vector(stage.up);
  if (!contact) {
    geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
    const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour }));
    return { object: line, show: (a, b) => geometry.setDrawRange(a, b - a + 1) };
  }
  const at = (k) => new THREE.Vector3().fromArray(points, 3 * Math.min(Math.max(k, 0), count - 1));
  const edge = new Float32Array(6 * count), index = new Uint32Array(6 * Math.max(count - 1, 0));
  for (let k = 0; k < count; k++) {
    const side = at(k + 1).sub(at(k - 1)).cross(up);
    side.setLength(side.lengthSq() ? width : 0);
    at(k).add(side).addScaledVector(up, 0.4 * width).toArray(edge, 6 * k);
    at(k).sub(side).addScaledVector(up, 0.4 * width).toArray(edge, 6 * k + 3);
    if (k + 1 < count) index.set([2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 1, 2 * k + 3, 2 * k + 2], 6 * k);
  }
  geometry.setAttribute("position", new THREE.BufferAttribute(edge, 3));
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  const strip = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ color: colour, side: THREE.DoubleSide }));
  return { object: strip, show: (a, b) => geometry.setDrawRange(6 * a, 6 * (b - a)) };
}

function panel(film, number) {
  const scene = new THREE.Scene(), size = stage.size;
  scene.add(new THREE.HemisphereLight("#ffffff", "#b9b3a6", 1.7));
  const sun = new THREE.DirectionalLight("#ffffff", 2.1), middle = vector(stage.middle);
  const eye = vector(stage.direction), up = vector(stage.up);
  const sunward = eye.clone().multiplyScalar(0.9).addScaledVector(up, 1.3).addScaledVector(new THREE.Vector3().crossVectors(eye, up), -0.5);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.radius = 4;
  sun.shadow.bias = -2e-4;
  sun.shadow.normalBias = 0.004 * size;
  const half = 0.75 * size;
  Object.assign(sun.shadow.camera, { left: -half, right: half, top: half, bottom: -half, near: 0.1 * size, far: 4 * size });
  scene.add(sun, sun.target);
  const lit = (shift) => {
    sun.target.position.copy(middle).add(shift);
    sun.position.copy(sun.target.position).addScaledVector(sunward.clone().normalize(), 2 * size);
  };
  lit(new THREE.Vector3());

  const bodies = film.bodies.map((body, k) => {
    const group = new THREE.Group(), colour = body.colour ?? BODIES[k % BODIES.length];
    for (const shape of body.shapes) group.add(shown(shape, colour));
    group.axes = new THREE.AxesHelper(0.6 * stage.body);
    group.add(group.axes);
    scene.add(group);
    return group;
  });
  for (const shape of film.still) scene.add(shown(shape, "#9aa0a8"));
  const ties = film.ties.map((tie) => Object.assign(tieOf(0.006 * stage.body + 0.0015 * size), { tie }));
  ties.forEach((mesh) => scene.add(mesh));
  const paths = film.trails.map((trail, k) => {
    const points = new Float32Array(3 * film.t.length), count = film.trails.length;
    for (let f = 0; f < film.t.length; f++)
      points.set(film.paths.subarray(3 * (f * count + k), 3 * (f * count + k) + 3), 3 * f);
    const colour = trail.contact ? "#d55e00" : BODIES[trail.body % BODIES.length];
    const path = { ...pathOf(points, colour, trail.contact, 0.004 * stage.body + 0.002 * size), contact: trail.contact };
    path.object.frustumCulled = false;
    scene.add(path.object);
    return path;
  });

  const floor = new THREE.Group();
  const cells = Math.min(400, Math.ceil((3 * size) / stage.cell)) & ~1;
  const mesh = new THREE.GridHelper(cells * stage.cell, cells, "#888888", "#888888");
  mesh.material.transparent = true;
  mesh.material.opacity = 0.28;
  mesh.material.depthWrite = false;
  const shade = new THREE.Mesh(new THREE.PlaneGeometry(cells * stage.cell, cells * stage.cell), new THREE.ShadowMaterial({ opacity: 0.22 }));
  shade.rotation.x = -Math.PI / 2;
  shade.receiveShadow = true;
  floor.add(mesh, shade);
  const normal = vector(stage.normal);
  floor.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
  scene.add(floor);

  const start = new THREE.Vector3(), now = new THREE.Vector3();
  const centre = (frame, out) => {
    out.set(0, 0, 0);
    const n = bodies.length;
    for (let k = 0; k < n; k++) out.add(now.fromArray(film.poses, 7 * (frame * n + k)));
    return out.multiplyScalar(1 / n);
  };
  centre(0, start);
  const shift = new THREE.Vector3();
  return {
    film, scene, shift, floor,
    seek(frame) {
      const n = bodies.length;
      bodies.forEach((group, k) => {
        const at = 7 * (frame * n + k);
        group.position.fromArray(film.poses, at);
        group.quaternion.set(film.poses[at + 4], film.poses[at + 5], film.poses[at + 6], film.poses[at + 3]);
        group.axes.visible = element("axes").checked;
        group.updateMatrixWorld();
      });
      for (const line of ties) {
        const { first, second, at, on } = line.tie;
        const a = first < 0 ? vector(at) : bodies[first].localToWorld(vector(at));
        const b = (second < 0 ? vector(on) : bodies[second].localToWorld(vector(on))).sub(a);
        line.position.copy(a);
        line.scale.set(1, b.length() || 1e-9, 1);
        line.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), b.lengthSq() ? b.normalize() : b.set(0, 1, 0));
      }
      const part = element("paths").value;
      for (const path of paths) {
        path.object.visible = path.contact || part !== "none";
        path.show(path.contact || part === "whole" ? 0 : Math.max(0, frame - RECENT), frame);
      }
      if (element("follow").checked) centre(frame, shift).sub(start);
      else shift.set(0, 0, 0);
      lit(shift);
      // the floor goes along by whole cells, so that its lines stay where they are
      const along = middle.clone().add(shift);
      along.addScaledVector(normal, stage.height - along.dot(normal));
      for (const axis of [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 0, 1)]) {
        const side = axis.applyQuaternion(floor.quaternion), place = along.dot(side);
        along.addScaledVector(side, Math.round(place / stage.cell) * stage.cell - place);
      }
      floor.position.copy(along);
      floor.visible = element("grid").checked;
    },
  };
}

// --- the view -------------------------------------------------------------------------------------------------------

const camera = new THREE.PerspectiveCamera(FOV, 1, 0.01 * stage.size, 40 * stage.size);
camera.up.fromArray(stage.up);
let renderer = null;
try {
  renderer = new THREE.WebGLRenderer({ canvas: element("view"), antialias: true, alpha: true, preserveDrawingBuffer: true });
} catch {
  element("labels").textContent = "This browser shows no 3-D graphics (WebGL); the numbers are beside.";
}
if (renderer) {
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFSoftShadowMap;
  renderer.setScissorTest(true);
  renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
}
const panels = renderer ? films.map(panel) : [];
const controls = new OrbitControls(camera, element("view"));
controls.enableDamping = false;

const columns = Math.ceil(Math.sqrt(films.length * (films.length > 3 ? 1 : films.length))), rows = Math.ceil(films.length / columns);

/** How far away the eye has to be for the corners of the box to be seen. */
function home() {
  const direction = vector(stage.direction).normalize(), middle = vector(stage.middle);
  const right = new THREE.Vector3().crossVectors(vector(stage.up), direction).normalize();
  const above = new THREE.Vector3().crossVectors(direction, right);
  const tall = Math.tan((FOV * Math.PI) / 360), wide = tall * camera.aspect;
  let distance = 0.2 * stage.size;
  for (let corner = 0; corner < 8; corner++) {
    const c = vector([0, 1, 2].map((k) => (corner & (1 << k) ? stage.high[k] : stage.low[k]))).sub(middle);
    distance = Math.max(distance, c.dot(direction) + Math.max(Math.abs(c.dot(right)) / wide, Math.abs(c.dot(above)) / tall));
  }
  camera.position.copy(middle).addScaledVector(direction, 1.08 * distance);
  controls.target.copy(middle);
  controls.update();
}

function resized() {
  const { clientWidth: w, clientHeight: h } = element("stage");
  if (renderer) renderer.setSize(w, h, false);
  const before = camera.aspect;
  camera.aspect = w / columns / (h / rows) || 1;
  camera.updateProjectionMatrix();
  if (!resized.done || Math.abs(before - camera.aspect) > 0.2 * before) home();
  resized.done = true;
  element("labels").querySelectorAll("div").forEach((label, k) => {
    label.style.left = `${(100 * (k % columns)) / columns}%`;
    label.style.top = `${(100 * Math.floor(k / columns)) / rows}%`;
    label.style.width = `${100 / columns}%`;
    label.style.height = `${100 / rows}%`;
  });
  plots.forEach((plot) => plot.draw());
}

let drawn = 0;
function render() {
  if (!renderer) return;
  const { clientWidth: w, clientHeight: h } = element("stage");
  panels.forEach(({ scene, shift }, k) => {
    const x = (k % columns) * (w / columns), y = h - (Math.floor(k / columns) + 1) * (h / rows);
    renderer.setViewport(x, y, w / columns, h / rows);
    renderer.setScissor(x, y, w / columns, h / rows);
    camera.position.add(shift);
    camera.updateMatrixWorld();
    renderer.render(scene, camera);
    camera.position.sub(shift);
  });
  drawn++;
}

if (films.length > 1 && renderer)
  for (const film of films) {
    const label = document.createElement("div"), small = document.createElement("small");
    label.textContent = film.title;
    small.textContent = film.subtitle;
    if (!film.subtitle.startsWith(film.title)) label.append(small);
    element("labels").append(label);
  }

// --- watched numbers ------------------------------------------------------------------------------------------------

const number = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e4 ? x.toPrecision(4) : x.toExponential(2));

function plotOf(name, given) {
  const units = given === "1" ? "" : given;
  const lines = films.map((film, k) => ({ film, curve: film.curves.find((c) => c.name === name), colour: CURVES[k % CURVES.length] })).filter((l) => l.curve);
  const card = document.createElement("div"), head = document.createElement("h2"), canvas = document.createElement("canvas"), list = document.createElement("ul");
  card.className = "plot";
  head.innerHTML = "<b></b> <span></span>";
  head.querySelector("b").textContent = name.replaceAll("_", " ");
  const first = lines[0].curve.first, same = lines.every((l) => l.curve.first === first);
  head.querySelector("span").textContent = same ? `change from ${number(first)} ${units}` : `change from its first value${units && ", "}${units}`;
  card.append(head, canvas, list);
  element("plots").append(card);
  let low = 0, high = 0;
  for (const { curve } of lines)
    for (const values of [curve.least, curve.greatest])
      for (const x of values) if (Number.isFinite(x)) (low = Math.min(low, x)), (high = Math.max(high, x));
  const constant = low === high;
  if (constant) (low -= 1), (high += 1);
  const whole = span(longest) || 1;
  const items = lines.map(({ colour, film }) => {
    const item = document.createElement("li"), chip = document.createElement("span"), value = document.createElement("span");
    chip.className = "chip";
    chip.style.background = colour;
    item.append(chip, films.length > 1 ? `${film.title}: ` : "", value);
    list.append(item);
    return value;
  });
  let picture = null;
  const place = (x, y, w, h) => [(x / whole) * w, 4 + (1 - (y - low) / (high - low)) * (h - 8)];
  function draw() {
    const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight, style = getComputedStyle(document.documentElement);
    canvas.width = w * ratio;
    canvas.height = h * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.strokeStyle = style.getPropertyValue("--rule");
    pen.beginPath();
    pen.moveTo(0, place(0, 0, w, h)[1]);
    pen.lineTo(w, place(0, 0, w, h)[1]);
    pen.stroke();
    for (const { film, curve, colour } of lines) {
      const x = (k) => Math.abs(film.t[k] - film.t[0]);
      pen.fillStyle = colour + "33";
      pen.beginPath();
      for (let k = 0; k < film.t.length; k++) pen.lineTo(...place(x(k), curve.greatest[k], w, h));
      for (let k = film.t.length - 1; k >= 0; k--) pen.lineTo(...place(x(k), curve.least[k], w, h));
      pen.fill();
      pen.strokeStyle = colour;
      pen.lineWidth = 1.2;
      pen.beginPath();
      for (let k = 0; k < film.t.length; k++) pen.lineTo(...place(x(k), curve.change[k], w, h));
      pen.stroke();
    }
    pen.fillStyle = style.getPropertyValue("--faint");
    pen.font = "10px system-ui, sans-serif";
    pen.strokeStyle = style.getPropertyValue("--card");
    pen.lineWidth = 3;
    for (const [value, y] of [[high, 11], [low, h - 3]]) {
      if (constant || value === 0) continue;
      const words = (value > 0 ? "+" : "") + number(value);
      pen.strokeText(words, 2, y);
      pen.fillText(words, 2, y);
    }
    picture = document.createElement("canvas");
    picture.width = canvas.width;
    picture.height = canvas.height;
    picture.getContext("2d").drawImage(canvas, 0, 0);
  }
  function seek(passed) {
    lines.forEach(({ film, curve }, k) => {
      const value = curve.change[frameAt(film, passed)];
      items[k].textContent = `${value > 0 ? "+" : ""}${number(value)} ${units}`;
    });
    if (!picture) return;
    const pen = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1, x = (passed / whole) * canvas.width;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(picture, 0, 0);
    pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
    pen.fillRect(x - 0.75 * ratio, 0, 1.5 * ratio, canvas.height);
  }
  const jump = (event) => event.buttons && go((event.offsetX / canvas.clientWidth) * whole);
  canvas.addEventListener("pointerdown", jump);
  canvas.addEventListener("pointermove", jump);
  return { draw, seek };
}

const names = new Map();
for (const film of films) for (const curve of film.curves) names.set(curve.name, curve.units);
const plots = [...names].map(([name, units]) => plotOf(name, units));
if (!plots.length) {
  element("plots").remove();
  document.querySelector("main").classList.add("bare");
}

// --- time -----------------------------------------------------------------------------------------------------------

const total = span(longest), factors = [];
for (const power of [-4, -3, -2, -1, 0, 1, 2, 3, 4]) for (const digit of [1, 2, 5]) factors.push(digit * 10 ** power);
const usual = total === 0 || total >= 2 && total <= 40 ? 1 : factors.reduce((a, b) => (Math.abs(Math.log((b * 15) / total)) < Math.abs(Math.log((a * 15) / total)) ? b : a));
const middleFactor = factors.indexOf(usual);
for (const factor of factors.slice(Math.max(0, middleFactor - 6), middleFactor + 5)) {
  const option = new Option(`${factor} ×`, factor, false, factor === usual);
  element("speed").append(option);
}
let passed = 0, playing = false, before = null, frame = 0;
element("scrub").max = longest.t.length - 1;
element("follow").checked = stage.travels;
if (frames < 2)
  for (const id of ["play", "scrub", "speed", "paths", "follow", "loop"]) (element(id).closest("label") ?? element(id)).hidden = true;

function show() {
  panels.forEach((one) => one.seek(frameAt(one.film, passed)));
  frame = frameAt(longest, passed);
  element("scrub").value = frame;
  const t = longest.t[0] + Math.sign(longest.t[longest.t.length - 1] - longest.t[0] || 1) * Math.min(passed, total);
  element("clock").textContent = longest.t.length > 1 && total > 0 ? `t = ${t.toFixed(Math.max(0, 3 - Math.ceil(Math.log10(total))))} s` : "";
  plots.forEach((plot) => plot.seek(passed));
  document.body.dataset.frame = frame;
  render();
}
function go(to) {
  passed = Math.min(Math.max(to, 0), total);
  show();
}
function goFrame(k) {
  const at = Math.min(Math.max(k, 0), longest.t.length - 1);
  go(Math.abs(longest.t[at] - longest.t[0]));
}
function play(on) {
  playing = on && frames > 1;
  if (playing && passed >= total) passed = 0;
  before = null;
  element("play").textContent = playing ? "❚❚" : "▶";
  if (playing) requestAnimationFrame(tick);
}
function tick(now) {
  if (!playing) return;
  if (before !== null) {
    passed += (Math.min(now - before, 250) / 1000) * Number(element("speed").value);
    if (passed >= total) {
      passed = element("loop").checked ? 0 : total;
      if (!element("loop").checked) play(false);
    }
    show();
  }
  before = now;
  if (playing) requestAnimationFrame(tick);
}

element("play").addEventListener("click", () => play(!playing));
element("scrub").addEventListener("input", (event) => goFrame(Number(event.target.value)));
for (const id of ["axes", "grid", "follow", "paths"]) element(id).addEventListener("change", show);
element("home").addEventListener("click", () => (home(), show()));
controls.addEventListener("change", () => playing || render());
document.addEventListener("keydown", (event) => {
  if (["INPUT", "SELECT"].includes(event.target.tagName) && event.target.type !== "checkbox") return;
  if (event.key === " ") play(!playing), event.preventDefault();
  if (event.key === "ArrowRight") goFrame(frame + 1);
  if (event.key === "ArrowLeft") goFrame(frame - 1);
});
function themed(theme) {
  document.documentElement.dataset.theme = theme;
  plots.forEach((plot) => plot.draw());
  show();
}
element("theme").addEventListener("click", () => themed(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
new ResizeObserver(() => (resized(), show())).observe(element("stage"));
resized();
themed(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
element("axes").checked = stage.axes;
show();
play(!window.matchMedia("(prefers-reduced-motion: reduce)").matches);

window.liemech = { goFrame, play, get frame() { return frame; }, get drawn() { return drawn; }, frames };
