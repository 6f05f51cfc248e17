"use strict";
// Draws the figures one after the other, plays the animation, and makes the tables sortable.
// document.body.dataset.ready is "yes" when all of it is done.
(() => {
  const CONFIG = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
  const SECONDS = [5, 10, 20, 60];

  const DARK = matchMedia("(prefers-color-scheme: dark)").matches;
  const IN_THE_DARK = { "#1d2733": "#dde4ea", "#ffffff": "#1a2026", "#fbfcfd": "#1a2026", "#d8dde2": "#343c44", "#000000": "#dde4ea",
    "#aab3bc": "#5f6b73", "#0072B2": "#3d74f5", "#5f6b73": "#aab3bc", "#c4273b": "#e8606f", "#332288": "#9a8ff0", "#661100": "#c8704f",
    "#882255": "#d06a9c", "#777777": "#a0a0a0" };
  const NARROW = 640; // px: legends are below their figures

  // The colours of a dark page, at any depth.
  function themed(value) {
    if (typeof value === "string") return IN_THE_DARK[value] ?? value;
    if (Array.isArray(value)) return value.map(themed);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, themed(each)]));
  }

  function specOf(id) {
    const spec = JSON.parse(document.querySelector(`script[data-for="${CSS.escape(id)}"]`).textContent);
    return DARK ? themed(spec) : spec;
  }

  // The rows that a legend of these names has in so many px, where entries stand beside each other.
  const pen = document.createElement("canvas").getContext("2d");
  function rowsOf(names, width) {
    pen.font = "12px system-ui, sans-serif";
    let rows = 1, used = 0;
    for (const name of names) {
      const own = 50 + pen.measureText(String(name ?? "").replaceAll("&lt;", "<").replaceAll("&amp;", "&")).width;
      if (used > 0 && used + own > width) { rows++; used = 0; }
      used += own;
    }
    return rows;
  }

  // The layout of a figure in its place: on a narrow page the legend is below, and the figure as much higher.
  function fitted(place, spec) {
    const layout = spec.layout;
    const narrow = place.clientWidth < NARROW;
    if (!(narrow || spec.menu) || layout.showlegend === false) return layout;
    if (narrow && spec.menu) for (const trace of spec.data) trace.name = trace.name.replace(": ", ":<br>");
    const shown = spec.menu?.map((set) => set[1]) ?? [spec.data.map((trace) => trace.showlegend !== false)];
    const rows = shown.map((set) => rowsOf([...new Set(spec.data.filter((_, k) => set[k]).map((trace) => trace.name))], place.clientWidth - 12));
    const room = (narrow && spec.menu ? 36 : 21) * Math.max(...rows) + 16;
    const inPlane = 90 + Math.max(120, Math.min((spec.ratio ?? 1) * (place.clientWidth - 80), 1.2 * place.clientWidth));
    const height = (spec.own ?? (spec.ratio ? inPlane : layout.scene ? 0.95 * place.clientWidth : layout.height ?? 450)) + room;
    const at = spec.menu ? { y: room / height, yanchor: "top" } : { y: 0, yanchor: "bottom" }; // sets differ in size
    place.style.minHeight = "0";
    if (layout.scene) layout.scene.domain = { x: [0, 1], y: [0, 1] };
    const margin = { ...layout.margin, l: layout.scene ? 0 : 62, r: layout.scene ? 0 : 6, b: (layout.margin?.b ?? 46) + room };
    return { ...layout, height, margin, legend: { ...layout.legend, orientation: "h", x: 0, xanchor: "left", yref: "container", ...at } };
  }

  // A menu above a figure: each entry shows a set of its curves, in the legend once.
  function addMenu(place, spec) {
    const choice = document.createElement("select");
    choice.className = "sets";
    choice.setAttribute("aria-label", "Curves");
    for (const [name] of spec.menu) choice.add(new Option(name));
    choice.addEventListener("change", () => {
      const set = spec.menu[choice.selectedIndex][1];
      Plotly.restyle(place, { visible: spec.data.map((_, k) => set[k % set.length]), showlegend: spec.data.map((_, k) => set[k] ?? false) });
    });
    place.before(choice);
  }
  const breath = () => new Promise((resolve) => setTimeout(resolve, 0));

  function say(place, text) {
    const note = document.createElement("p");
    note.className = "text warning";
    note.textContent = text;
    place.replaceChildren(note);
  }

  async function drawFigures() {
    for (const place of document.querySelectorAll("figure:not(.animation) > .plot")) {
      const spec = specOf(place.id);
      await Plotly.newPlot(place, spec.data, fitted(place, spec), CONFIG);
      if (spec.menu?.length > 1) addMenu(place, spec);
      await breath();
    }
  }

  // ---------------------------------------------------------------- the animation

  function coordinates(motion) {
    const text = atob(motion.points);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return Float64Array.from(new Uint16Array(bytes.buffer), (n) => motion.lower + motion.unit * n);
  }

  // x, y and in space z of all traces at a moment; null between two lines of a trace.
  function placed(points, lengths, axes, moment) {
    const total = lengths.flat().reduce((sum, n) => sum + n, 0);
    const out = Object.fromEntries(axes.map((axis) => [axis, []]));
    let at = axes.length * total * moment;
    for (const lines of lengths) {
      const found = axes.map(() => []);
      lines.forEach((n, k) => {
        if (k) for (const each of found) each.push(null);
        for (let i = 0; i < n; i++) for (const each of found) each.push(points[at++]);
      });
      axes.forEach((axis, k) => out[axis].push(found[k]));
    }
    return out;
  }

  const webgl = () => {
    const canvas = document.createElement("canvas");
    return Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
  };

  async function animate(figure) {
    const plot = figure.querySelector(".plot");
    const [play, slider, time, speed] = ["play", "slider", "time", "speed"].map((name) => figure.querySelector(`.${name}`));
    const motion = JSON.parse(figure.querySelector("script.motion").textContent);
    const axes = [...motion.axes];
    if (axes.length === 3 && !webgl()) {
      say(plot, "This browser has no WebGL, which the animation needs.");
      plot.style.minHeight = "0";
      figure.querySelector(".controls").remove();
      return;
    }
    const points = coordinates(motion), t = motion.t, last = t.length - 1, length = Math.abs(t[last] - t[0]);
    const passed = (moment) => Math.abs(t[moment] - t[0]); // the times of a run back in time fall
    const spec = specOf(plot.id);
    await Plotly.newPlot(plot, spec.data, fitted(plot, spec), CONFIG);

    const choices = SECONDS.filter((s) => s !== length).map((s) => [s, `${s} s`]);
    if (length > 0) choices.push([length, "as in reality"]);
    for (const [seconds, label] of choices) speed.add(new Option(label, seconds));
    speed.value = String(length >= 4 && length <= 20 ? length : 10);

    let playing = false, drawing = false, now = 0, wanted = 0, began = 0, from = 0;
    const indices = motion.lengths.map((_, k) => k);

    async function draw() {
      if (drawing) return; // the one at work comes back for the latest moment
      drawing = true;
      while (now !== wanted) {
        now = wanted;
        await Plotly.restyle(plot, placed(points, motion.lengths, axes, now), indices);
      }
      drawing = false;
    }
    function show(moment) {
      wanted = moment;
      slider.value = String(moment);
      time.value = `t = ${t[moment].toPrecision(4)} of ${t[last].toPrecision(4)} s`;
      draw();
    }
    function stop() {
      playing = false;
      play.textContent = "Play";
      play.setAttribute("aria-label", "Play");
    }
    function start() {
      if (Number(slider.value) === last) show(0);
      playing = true;
      play.textContent = "Pause";
      play.setAttribute("aria-label", "Pause");
      began = performance.now();
      from = passed(Number(slider.value));
      requestAnimationFrame(tick);
    }
    function tick(stamp) {
      if (!playing) return;
      const reached = from + ((Math.max(stamp - began, 0) / 1000) * length) / Number(speed.value);
      let moment = Number(slider.value);
      while (moment < last && passed(moment + 1) <= reached) moment++;
      if (moment !== Number(slider.value)) show(moment);
      if (moment === last) stop();
      else requestAnimationFrame(tick);
    }
    play.addEventListener("click", () => (playing ? stop() : start()));
    slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
    speed.addEventListener("change", () => { if (playing) { stop(); start(); } });
    play.disabled = slider.disabled = last < 1;
    show(0);
  }

  // ---------------------------------------------------------------- tables

  async function tables() {
    const elements = [...document.querySelectorAll("div.table > table")];
    if (!elements.length) return;
    const source = new Blob([Uint8Array.from(atob(document.getElementById("tables-script").textContent), (c) => c.charCodeAt(0))],
      { type: "text/javascript" });
    const url = URL.createObjectURL(source);
    const DataTable = (await import(url)).default;
    URL.revokeObjectURL(url);
    for (const element of elements) {
      for (const cell of element.querySelectorAll("td")) if (cell.textContent.length > 60) cell.classList.add("long");
      const rows = element.tBodies[0].rows.length, many = rows > 50;
      new DataTable(element, {
        order: [],
        autoWidth: false,
        columnDefs: [{ targets: "name", type: "string" }], // a body called K1 is no number
        searching: rows > 8,
        paging: many,
        pageLength: 50,
        lengthMenu: [50, 200, { label: "all", value: -1 }],
        language: { search: "", searchPlaceholder: "filter: words that a row must have", info: "_TOTAL_ rows", infoFiltered: "of _MAX_",
          infoEmpty: "no row", zeroRecords: "no row has all of these words", lengthMenu: "_MENU_ rows a page" },
        layout: { topStart: rows > 8 ? "search" : null, topEnd: many ? "pageLength" : null, bottomStart: rows > 8 ? "info" : null, bottomEnd: many ? "paging" : null },
      });
      const box = element.parentElement, fade = () => box.classList.toggle("more", box.scrollWidth - box.scrollLeft - box.clientWidth > 1);
      for (const [source, event] of [[box, "scroll"], [window, "resize"]]) source.addEventListener(event, fade);
      fade();
      await breath();
    }
  }

  // ---------------------------------------------------------------- the table of contents

  function contents() {
    const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.classList.remove("here");
        links.get(entry.target.id).classList.add("here");
      }
    }, { rootMargin: "-10% 0px -80% 0px" });
    for (const section of document.querySelectorAll("main > section")) seen.observe(section);
  }

  async function main() {
    document.documentElement.classList.toggle("dark", DARK); // for DataTables
    contents();
    await tables();
    await drawFigures();
    for (const figure of document.querySelectorAll("figure.animation")) await animate(figure);
    document.body.dataset.ready = "yes";
  }
  main();
})();
