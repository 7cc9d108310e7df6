"use strict";

// For comparing text: in one form of its letters, and cleaned as names are for the page.
const comparable = (text) => text.normalize("NFC").replace(/[\p{C}\p{Z}]/gu, " ").toLowerCase();

// The list of hits: sorting, filters, search, and the panel of one hit. Text is only ever set as
// text, never as markup.
class Dossier {
  constructor(section) {
    this.section = section;
    this.data = JSON.parse(section.querySelector("script[type='application/json']").textContent);
    this.rows = [...section.querySelectorAll(".hits tbody tr")];
    this.list = section.querySelector(".hits tbody");
    this.find = (name) => section.querySelector(`[data-part='${name}']`);
    const canvas = section.querySelector("canvas");
    this.viewer = canvas ? new Viewer(canvas, this.data) : null;
    this.words = this.rows.map((row) => this.wordsOf(Number(row.dataset.i)));
    this.fitting = this.rows;
    this.ticked = new Set(this.remembered());
    for (const row of this.rows) {
      const box = this.boxOf(row);
      if (box) box.checked = this.ticked.has(this.keyOf(row));
    }
    this.most = Number(this.list?.dataset.most);
    this.listen();
    this.filter();
    const first = this.rows.find((row) => !row.classList.contains("ref")) ?? this.rows[0];
    if (first) this.open(Number(first.dataset.i));
  }

  wordsOf(number) {
    const hit = this.data.hits[number];
    return [hit.n, hit.parent, hit.state, hit.library, ...hit.others, ...hit.vendor.flat(), ...hit.doubts].map(comparable).join("\n");
  }

  listen() {
    const heads = [...this.section.querySelectorAll(".hits thead button")];
    for (const button of heads) {
      button.addEventListener("click", () => this.sort(button.closest("th")));
    }
    this.find("sort")?.addEventListener("change", (event) => this.sort(heads[event.target.selectedIndex].closest("th")));
    this.find("reverse")?.addEventListener("click", () => this.sort(this.section.querySelector(".hits th[aria-sort$=ending]")));
    for (const input of this.section.querySelectorAll(".filters input, .filters select")) {
      input.addEventListener("input", () => this.filter());
    }
    this.list.addEventListener("change", (event) => {
      const box = event.target.closest(".tick input");
      if (box) this.tick(box.closest("tr"), box.checked);
    });
    this.find("save")?.addEventListener("click", () => this.save());
    this.list.addEventListener("click", (event) => {
      if (event.target.closest(".tick")) return;
      const row = event.target.closest("tr");
      if (row) this.open(Number(row.dataset.i), Boolean(event.target.closest(".open")));
    });
    for (const link of this.section.querySelectorAll("[data-open]")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();  // to where the link leads without scripts
        this.open(Number(link.dataset.open), true);
      });
    }
    this.find("all")?.addEventListener("click", () => {
      this.most = Infinity;
      this.filter();
    });
    for (const button of this.section.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.act(button));
    }
    if (this.viewer) {
      this.viewer.canvas.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const step = { n: 1, p: -1, j: 1, k: -1 }[event.key];
        if (step) this.step(step);
        const button = this.section.querySelector(`[data-key='${event.key}']`);
        if (button) this.act(button);
      });
    }
  }

  act(button) {
    const what = button.dataset.do;
    if (what === "next") this.step(1);
    else if (what === "before") this.step(-1);
    else if (what === "nearer") this.viewer.scale(1.25);
    else if (what === "farther") this.viewer.scale(0.8);
    else if (what === "reset") this.viewer.reset();
    else button.setAttribute("aria-pressed", String(this.viewer.toggle(what)));
  }

  step(by) {
    const at = this.fitting.findIndex((row) => Number(row.dataset.i) === this.chosen);
    const next = this.fitting[Math.min(this.fitting.length - 1, Math.max(0, at + by))];
    if (next) this.open(Number(next.dataset.i));
  }

  boxOf(row) {
    return row.querySelector(".tick input");
  }

  keyOf(row) {
    const hit = this.data.hits[Number(row.dataset.i)];
    return `${hit.n}\n${hit.parent}`;
  }

  // Ticks outlive the page where the browser lets a page of a file keep something.
  get shelf() {
    return `ticked in ${location.pathname} ${this.section.dataset.target}`;
  }

  remembered() {
    try {
      return JSON.parse(localStorage.getItem(this.shelf) ?? "[]");
    } catch {
      return [];
    }
  }

  tick(row, is) {
    if (is) this.ticked.add(this.keyOf(row));
    else this.ticked.delete(this.keyOf(row));
    try {
      localStorage.setItem(this.shelf, JSON.stringify([...this.ticked]));
    } catch {
      // Then they are lost with the page; the saved CSV has them.
    }
    this.filter();
  }

  // What fits, in this order, as a table that no spreadsheet evaluates.
  csv() {
    const own = (row) => [...row.cells].filter((cell) => cell.dataset.l && cell.dataset.l !== "vendor");
    const text = (cell) => {
      const said = cell.querySelector(".fail")?.title ?? cell.textContent.trim();
      return said === "–" ? "" : said;
    };
    const vendor = [...new Set(this.data.hits.flatMap((hit) => hit.vendor.map(([name]) => name)))];
    const titles = own(this.rows[0]).map((cell) => cell.dataset.l);
    const head = ["name", ...titles, "SMILES", "docked state", "doubts", "nearest known", "note", "ticked"];
    // As exported tables have them: one with the prefix gets another, `score` gets the first.
    const apart = (name) => (head.includes(name.replace(/^(input\.)+/, "")) ? `input.${name}` : name);
    const lines = [[...head, ...vendor.map(apart)]];
    for (const row of this.fitting) {
      const hit = this.data.hits[Number(row.dataset.i)];
      const columns = new Map(hit.vendor);
      lines.push([
        hit.n, ...own(row).map(text), hit.parent, hit.state, hit.doubts.join("; "), hit.nearest, hit.note,
        this.boxOf(row)?.checked ? "yes" : "", ...vendor.map((name) => columns.get(name) ?? ""),
      ]);
    }
    const quoted = (value) => {
      const formula = /^\s*[=+\-@]/.test(value) && Number.isNaN(Number(value));
      const safe = formula ? `'${value}` : String(value);
      return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    return lines.map((line) => `${line.map(quoted).join(",")}\n`).join("");
  }

  save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([this.csv()], { type: "text/csv" }));
    link.download = `${this.section.dataset.target}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  sort(head) {
    const column = [...head.parentElement.children].indexOf(head);
    const up = head.dataset.first === "up";
    const now = head.getAttribute("aria-sort");
    const rising = now === "none" || !now ? up : now === "descending";
    for (const other of head.parentElement.children) {
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    }
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const choice = this.find("sort");
    if (choice) choice.value = head.textContent.trim();
    const value = (row) => {
      const cell = row.children[column];
      const text = cell.dataset.v ?? cell.textContent.trim();
      return text === "" || Number.isNaN(Number(text)) ? text.toLowerCase() : Number(text);
    };
    const missing = (v) => v === "" || v === "–";
    this.rows = this.rows.map((row, i) => [value(row), i, row]).sort(([a, i], [b, j]) => {
      if (missing(a) !== missing(b)) return missing(a) ? 1 : -1;
      const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
      return (rising ? order : -order) || i - j;
    }).map(([, , row]) => row);
    this.list.append(...this.rows);
    this.filter();
  }

  filter() {
    const input = (name) => this.find(name);
    const words = comparable(input("search")?.value ?? "").trim();
    const limit = (name) => (input(name)?.value ? Number(input(name).value) : null);
    const [low, high, score] = ["least-weight", "most-weight", "least-score"].map(limit);
    const residue = input("residue")?.value ?? "";
    const plain = input("undoubted")?.checked;
    const ticked = input("ticked")?.checked;
    this.fitting = this.rows.filter((row) => {
      const number = Number(row.dataset.i);
      const hit = this.data.hits[number];
      const weight = hit.weight ?? NaN;  // null is less than any limit
      return (
        (!words || this.words[number].includes(words)) &&
        (low === null || weight >= low) && (high === null || weight <= high) &&
        (score === null || hit.s >= score) && (!plain || !hit.doubts.length) &&
        (!ticked || this.boxOf(row)?.checked) &&
        (!residue || hit.c.some((c) => this.data.names[c[1]] === residue && c[0] !== "h"))
      );
    });
    // A long list is shown in part: its end and what follows stay in reach. The crystal ligand always.
    let room = this.most;
    const shown = new Set(this.fitting.filter((row) => row.classList.contains("ref") || room-- > 0));
    for (const row of this.rows) row.hidden = !shown.has(row);
    this.fitting.forEach((row, place) => row.classList.toggle("late", place >= Number(this.list.dataset.paper)));
    const count = this.find("count");
    const hits = (rows) => [...rows].filter((row) => !row.classList.contains("ref")).length;
    const rest = shown.size < this.fitting.length ? `; ${hits(this.fitting)} fit` : "";
    if (count) count.textContent = `${hits(shown)} of ${hits(this.rows)} shown${rest}`;
    this.find("none").hidden = hits(this.fitting) > 0 || !hits(this.rows);
    const all = this.find("all");
    if (all) {
      all.hidden = !rest;
      all.textContent = `show all ${hits(this.fitting)}`;
    }
  }

  open(number, show = false) {
    const hit = this.data.hits[number];
    this.chosen = number;
    for (const row of this.rows) row.classList.toggle("on", Number(row.dataset.i) === number);
    this.fill(hit, number);
    // A hit that could not be analysed has no picture: another one's must not stand beside its name.
    if (this.viewer && hit.e.length) this.viewer.open(hit);
    else this.viewer?.clear();
    if (!show) return;
    this.section.querySelector(".pose").scrollIntoView({ block: "nearest" });
    this.viewer?.canvas.focus({ preventScroll: true });  // its keys work at once
  }

  fill(hit, number) {
    const make = (tag, text, kind) => {
      const made = document.createElement(tag);
      if (text !== undefined) made.textContent = text;
      if (kind) made.className = kind;
      return made;
    };
    const rank = hit.reference ? `would rank ${hit.r}` : `rank ${hit.r}`;
    const parts = [make("p", hit.n, "title"), make("p", `${rank}, score ${hit.s.toFixed(2)}`, "soft")];
    const list = make("ul", undefined, "doubts");
    for (const doubt of hit.doubts) list.append(make("li", doubt));
    if (hit.doubts.length) parts.push(list);
    const named = (c) => [this.data.kinds[c[0]], this.data.names[c[1]], `${(c[2] / 100).toFixed(1)} Å`];
    const table = (heads, rows) => {
      const made = make("table", undefined, "contacts");
      for (const row of rows) {
        const line = make("tr");
        row.forEach((text) => line.append(make("td", text)));
        made.append(line);
      }
      return made;
    };
    const strong = hit.c.filter((c) => c[0] !== "h");
    parts.push(make("h4", "Interactions"));
    parts.push(strong.length ? table([], strong.map(named)) : make("p", "none but hydrophobic contacts", "soft"));
    const greasy = hit.c.filter((c) => c[0] === "h").map((c) => this.data.names[c[1]]);
    if (greasy.length) parts.push(make("p", `hydrophobic: ${greasy.join(", ")}`, "soft small"));
    const fold = (title, inside) => {
      const made = make("details");
      made.append(make("summary", title), inside);
      return made;
    };
    if (hit.network) {
      const words = `The networks choose a pose ${hit.network.moved.toFixed(1)} Å away; the button networks' pose shows it.`;
      const theirs = hit.network.c.filter((c) => c[0] !== "h");
      parts.push(make("p", words, "soft small"));
      parts.push(fold("interactions of the networks' pose",
        theirs.length ? table([], theirs.map(named)) : make("p", "none but hydrophobic contacts", "soft")));
    }
    const terms = this.data.terms.map((name, i) => [name, hit.t[i] === null ? "–" : hit.t[i].toFixed(2)]);
    parts.push(fold("energy terms", table([], terms)));
    const origin = [["docked state", hit.state], ["states and ring shapes docked", hit.states], ["library", hit.library]];
    if (hit.stereo) origin.push(["stereo", hit.stereo]);
    if (hit.place) origin.push(["conformation", hit.place]);
    if (hit.note) origin.push(["note", hit.note]);
    if (hit.nearest) origin.push(["nearest known", hit.nearest]);
    if (hit.others.length) origin.push(["other names", hit.others.join("; ")]);
    parts.push(fold("origin and state", table([], [...origin, ...hit.vendor])));
    this.find("known").replaceChildren(...parts);
    if (this.viewer) this.viewer.canvas.setAttribute("aria-label", `Pose of ${hit.n}; arrow keys turn, + and - zoom, n and p step`);
  }
}

// A target in which nothing was scored has no list.
const lists = [...document.querySelectorAll("section.target")].filter((one) => one.querySelector(".hits"));
const dossiers = lists.map((one) => new Dossier(one));
// The browser takes the styles of paper only after it has called this: so the mark brings them.
window.addEventListener("beforeprint", () => {
  document.documentElement.dataset.paper = "";
  for (const fold of document.querySelectorAll("details[data-print]")) fold.open = true;
  for (const one of dossiers) one.viewer?.draw();
});
window.addEventListener("afterprint", () => {
  delete document.documentElement.dataset.paper;
  for (const one of dossiers) one.viewer?.draw();
});
document.documentElement.dataset.ready = "yes";
