"use strict";

// A pose in its site, drawn as sticks on a canvas: projected, sorted by depth, faded with distance.
// Positions come in hundredths of an Angstrom. No library, no WebGL: a few hundred sticks.
class Viewer {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    this.show = { reference: false, network: false, pocket: false, labels: true };
    this.pointers = new Map();
    this.zoom = 1;
    this.turn = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    this.sites = data.sites.map(Viewer.atoms);
    this.reference = data.reference ? Viewer.atoms(data.reference) : null;
    this.hit = null;
    this.listen();
  }

  static atoms(part) {
    const xyz = [];
    for (let i = 0; i < part.x.length; i += 3) {
      xyz.push([part.x[i] / 100, part.x[i + 1] / 100, part.x[i + 2] / 100]);
    }
    const bonds = [];
    for (let i = 0; i < part.b.length; i += 3) bonds.push(part.b.slice(i, i + 3));
    return { element: part.e, xyz, bonds, residue: part.r || [] };
  }

  open(hit) {
    const first = this.hit === null;
    this.hit = hit;
    this.ligand = Viewer.atoms(hit);
    this.network = hit.network ? Viewer.atoms(hit.network) : null;
    this.site = this.sites[hit.site];
    const heavy = this.ligand.xyz.filter((_, i) => this.ligand.element[i] > 1);
    this.centre = [0, 1, 2].map((k) => heavy.reduce((sum, p) => sum + p[k], 0) / heavy.length);
    this.reach = Math.max(5, ...heavy.map((p) => Math.hypot(...p.map((v, k) => v - this.centre[k]))));
    this.near = new Set(hit.c.map((contact) => contact[1]));
    if (first) this.face(heavy);
    this.draw();
  }

  clear() {
    this.hit = null;
    this.canvas.getContext("2d").clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  // Look along the ligand's shortest axis, from the side where less of the site is in the way.
  face(heavy) {
    const around = heavy.map((p) => p.map((v, k) => v - this.centre[k]));
    const spread = (a) => a.map((_, i) => a.map((_, j) => around.reduce((s, p) => s + p[i] * p[j], 0)));
    let matrix = spread([0, 0, 0]);
    const axis = () => {
      let v = [0.61, 0.52, 0.6];
      for (let n = 0; n < 60; n++) {
        const w = matrix.map((row) => row.reduce((s, m, k) => s + m * v[k], 0));
        const size = Math.hypot(...w) || 1;
        v = w.map((c) => c / size);
      }
      return v;
    };
    const x = axis();
    const value = matrix.map((row) => row.reduce((s, m, k) => s + m * x[k], 0)).reduce((s, w, k) => s + w * x[k], 0);
    matrix = matrix.map((row, i) => row.map((m, j) => m - value * x[i] * x[j]));
    let y = axis();
    const along = y.reduce((s, c, k) => s + c * x[k], 0);
    y = y.map((c, k) => c - along * x[k]);
    const size = Math.hypot(...y) || 1;
    y = y.map((c) => c / size);
    const z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
    const front = this.site.xyz.reduce(
      (s, p) => s + Math.sign(p.reduce((t, c, k) => t + (c - this.centre[k]) * z[k], 0)), 0);
    this.turn = front > 0 ? [...x, ...y.map((c) => -c), ...z.map((c) => -c)] : [...x, ...y, ...z];
    this.zoom = 1;
  }

  reset() {
    if (!this.hit) return;
    this.face(this.ligand.xyz.filter((_, i) => this.ligand.element[i] > 1));
    this.draw();
  }

  rotate(dx, dy) {
    const [a, b] = [dx, dy].map((d) => d * 0.01);
    const turn = (m, i, j, angle) => {
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let k = 0; k < 3; k++) {
        const [p, q] = [m[3 * i + k], m[3 * j + k]];
        m[3 * i + k] = c * p + s * q;
        m[3 * j + k] = c * q - s * p;
      }
    };
    turn(this.turn, 0, 2, a);
    turn(this.turn, 1, 2, -b);
    this.draw();
  }

  scale(factor) {
    this.zoom = Math.min(6, Math.max(0.3, this.zoom * factor));
    this.draw();
  }

  toggle(what) {
    this.show[what] = !this.show[what];
    this.draw();
    return this.show[what];
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const now = [event.clientX, event.clientY];
      if (this.pointers.size === 1) this.rotate(now[0] - before[0], now[1] - before[1]);
      if (this.pointers.size === 2) {
        const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
        const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        this.scale(gap(now) / gap(before));
      }
      this.pointers.set(event.pointerId, now);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.scale(Math.exp(-event.deltaY * 0.0015));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (moves[event.key]) this.rotate(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.scale(1.15);
      else if (event.key === "-") this.scale(1 / 1.15);
      else if (event.key === "0") this.reset();
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  colours() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    const hex = (text) => [1, 3, 5].map((i) => parseInt(text.length === 4 ? text[(i + 1) / 2].repeat(2) : text.slice(i, i + 2), 16));
    const paper = "paper" in document.documentElement.dataset;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches && !paper;
    return {
      back: hex(read("--card")), ink: read("--ink"), soft: read("--soft"),
      element: {
        1: hex(dark ? "#d7dde4" : "#9aa3ad"), 7: hex(read("--N")), 8: hex(read("--O")), 9: hex(read("--F")),
        15: hex(read("--P")), 16: hex(read("--S")), 17: hex(read("--Cl")), 35: hex(read("--Br")), 53: hex(read("--I")),
      },
      ligand: hex(dark ? "#4fd0b8" : "#0e8a76"), reference: hex(read("--reference")), network: hex(read("--mark")),
      site: hex(dark ? "#8d9aa8" : "#8a949f"), other: hex("#b85c00"),
      contact: (kind) => read(`--${kind}-line`),
    };
  }

  draw() {
    const { canvas } = this;
    if (!this.hit || !canvas.clientWidth) return;
    const ratio = Math.max(2, window.devicePixelRatio || 1);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== width * ratio || canvas.height !== height * ratio) {
      canvas.width = width * ratio;
      canvas.height = height * ratio;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.lineCap = "round";
    const colour = this.colours();
    const unit = (0.33 * Math.min(width, height * 1.25) / this.reach) * this.zoom;
    const far = this.reach * 5;
    const place = (p) => {
      const q = p.map((v, k) => v - this.centre[k]);
      const t = this.turn;
      const [x, y, z] = [0, 3, 6].map((i) => t[i] * q[0] + t[i + 1] * q[1] + t[i + 2] * q[2]);
      const near = far / (far - z);
      return [width / 2 + x * unit * near, height / 2 - y * unit * near, z, near];
    };
    const faded = (rgb, z, alpha) => {
      const fog = Math.min(0.8, Math.max(0, (-z - 1) / 13));
      const mixed = rgb.map((v, k) => Math.round(v + (colour.back[k] - v) * fog));
      return `rgba(${mixed.join(",")},${alpha})`;
    };
    const jobs = [];
    const sticks = (part, size, carbon, keep, detailed) => {
      const at = part.xyz.map(place);
      const rgb = (i) => colour.element[part.element[i]] || (part.element[i] === 6 ? carbon : colour.other);
      const bonded = new Set();
      for (const [i, j, order] of part.bonds) {
        if (keep && !(keep(i) && keep(j))) continue;
        bonded.add(i).add(j);
        const thin = part.element[i] === 1 || part.element[j] === 1 ? 0.55 : 1;
        const [a, b] = [at[i], at[j]];
        const middle = [0, 1, 2, 3].map((k) => (a[k] + b[k]) / 2);
        const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
        const lines = detailed && order > 1 && order < 4 ? order : 1;
        for (let line = 0; line < lines; line++) {
          const shift = (line - (lines - 1) / 2) * size * unit * 1.5;
          const off = [(-(b[1] - a[1]) / length) * shift, ((b[0] - a[0]) / length) * shift];
          for (const [from, which] of [[a, i], [b, j]]) {
            jobs.push({ z: (from[2] + middle[2]) / 2, run: () => {
              pen.lineWidth = Math.max(1, (size * unit * middle[3] * thin) / (lines > 1 ? 1.5 : 1));
              pen.strokeStyle = faded(rgb(which), (from[2] + middle[2]) / 2, 1);
              pen.beginPath();
              pen.moveTo(from[0] + off[0], from[1] + off[1]);
              pen.lineTo(middle[0] + off[0], middle[1] + off[1]);
              pen.stroke();
            } });
          }
        }
      }
      part.xyz.forEach((_, i) => {
        if ((keep && !keep(i)) || bonded.has(i)) return;
        jobs.push({ z: at[i][2], run: () => {
          pen.fillStyle = faded(rgb(i), at[i][2], 1);
          pen.beginPath();
          pen.arc(at[i][0], at[i][1], 0.3 * unit * at[i][3], 0, 7);
          pen.fill();
        } });
      });
      return at;
    };
    const touched = (i) => this.near.has(this.site.residue[i]);
    const site = sticks(this.site, 0.13, colour.site, touched, false);
    if (this.show.pocket) sticks(this.site, 0.05, colour.site, (i) => !touched(i), false);
    if (this.show.reference && this.reference) sticks(this.reference, 0.13, colour.reference, null, true);
    if (this.show.network && this.network) sticks(this.network, 0.18, colour.network, null, true);
    sticks(this.ligand, 0.24, colour.ligand, null, true);
    for (const [kind, , , ...ends] of this.hit.c) {
      if (kind === "h") continue;
      const [a, b] = [ends.slice(0, 3), ends.slice(3)].map((p) => place(p.map((v) => v / 100)));
      jobs.push({ z: (a[2] + b[2]) / 2 + 0.3, run: () => {
        pen.setLineDash({ H: [5, 4], S: [2, 3], P: [9, 4], C: [9, 3, 2, 3] }[kind] || [4, 3, 1, 3]);
        pen.lineWidth = 2;
        pen.strokeStyle = colour.contact(kind);
        pen.beginPath();
        pen.moveTo(a[0], a[1]);
        pen.lineTo(b[0], b[1]);
        pen.stroke();
        pen.setLineDash([]);
      } });
    }
    jobs.sort((one, two) => one.z - two.z).forEach((job) => job.run());
    if (this.show.labels) this.label(pen, site, colour, width, height);
  }

  // Names of the residues that interact, beside their nearest drawn atom, where there is room.
  label(pen, site, colour, width, height) {
    const polar = new Set(this.hit.c.filter((c) => c[0] !== "h").map((c) => c[1]));
    const names = [...this.near].sort((a, b) => polar.has(b) - polar.has(a));
    const taken = [];
    for (const number of names) {
      const atoms = site.filter((_, i) => this.site.residue[i] === number);
      if (!atoms.length) continue;
      const middle = [0, 1].map((k) => atoms.reduce((s, p) => s + p[k], 0) / atoms.length);
      const words = this.data.names[number].split(" ")[0];
      pen.font = `${polar.has(number) ? "600 13px" : "12px"} system-ui, sans-serif`;
      const wide = pen.measureText(words).width;
      const x = Math.min(width - wide - 4, Math.max(4, middle[0] - wide / 2));
      const spot = [0, 14, -14, 28, -28].map((d) => Math.min(height - 5, Math.max(14, middle[1] + d)))
        .find((y) => !taken.some((t) => Math.abs(t[1] - y) < 14 && x < t[0] + t[2] + 4 && t[0] < x + wide + 4));
      if (spot === undefined) continue;
      taken.push([x, spot, wide]);
      pen.lineWidth = 4;
      pen.lineJoin = "round";
      pen.strokeStyle = `rgb(${colour.back.join(",")})`;
      pen.strokeText(words, x, spot);
      pen.fillStyle = polar.has(number) ? colour.ink : colour.soft;
      pen.fillText(words, x, spot);
    }
  }
}
