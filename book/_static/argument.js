// Draws what companion.pages.first_figure computed and the page holds as JSON: two methods side by side at one
// budget. Nothing is computed here but places.
document.addEventListener("DOMContentLoaded", () => {
  const root = document.getElementById("argument");
  if (!root) return;
  const data = JSON.parse(document.getElementById("argument-data").textContent);
  const [width, height, left, bottom, top] = [400, 330, 50, 44, 8];
  const names = Object.keys(data.methods);
  const first = ["CoPSIPrintedOnce", "CoPSIOnce"];
  const percent = (x) => `${Math.round(100 * x)} %`;

  const { element, svg } = makers;

  // ---- a place per configuration, from the means over all instances

  const scale = (axis, from, to) => {
    const values = data.means.map((mean) => mean[axis]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const place = (x) => from + ((x - low) / (high - low)) * (to - from);
    const step = (high - low) / 4 > 0.1 ? 0.2 : (high - low) / 4 > 0.05 ? 0.1 : 0.05;
    const ticks = [];
    for (let tick = Math.ceil(low / step); tick * step <= high; tick += 1) ticks.push(tick * step);
    return { place, ticks };
  };
  const across = scale(0, left + 12, width - 12);
  const up = scale(1, height - bottom - 12, top + 12);

  function drawAxes() {
    const axes = svg("g", { class: "argument-axes" });
    axes.append(svg("path", { d: `M${left},${top}V${height - bottom}H${width}` }));
    for (const tick of across.ticks) axes.append(svg("text", { x: across.place(tick), y: height - bottom + 16, "text-anchor": "middle" }, tick.toFixed(2)));
    for (const tick of up.ticks) axes.append(svg("text", { x: left - 6, y: up.place(tick) + 4, "text-anchor": "end" }, tick.toFixed(2)));
    axes.append(svg("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, data.objectives[0]));
    axes.append(svg("text", { x: 14, y: (height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(height - bottom) / 2})` }, data.objectives[1]));
    return axes;
  }

  function drawPoint([x, y]) {
    const at = { cx: across.place(x), cy: up.place(y) };
    const lines = `M${at.cx - 4.5},${at.cy - 4.5}l9,9m0,-9l-9,9`;
    const point = {
      ring: svg("circle", { ...at, r: 9, class: "argument-front" }),
      outline: svg("circle", { ...at, r: 5.5 }),
      fill: svg("circle", at),
      halo: svg("path", { d: lines }),
      cross: svg("path", { d: lines }),
      title: svg("title"),
    };
    point.group = svg("g", {}, ...Object.values(point));
    return point;
  }

  // ---- a side: a menu, the picture, the bar of the budget and a sentence

  function makeSide(label, preset) {
    const id = `argument-method-${label}`;
    const menu = element("select", { id });
    for (const name of names) menu.append(element("option", { value: name }, data.methods[name].label));
    menu.value = preset;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The configurations by their two scores; the fill of each shows how much of it was evaluated" });
    const points = data.means.map(drawPoint);
    picture.append(drawAxes(), ...points.map((point) => point.group));
    const bar = svg("svg", { viewBox: `0 0 ${width} 14`, role: "presentation", class: "argument-bar" });
    const granted = svg("rect", { x: 1, y: 1, height: 12, class: "argument-unspent" });
    const spent = svg("rect", { x: 1, y: 1, height: 12, class: "argument-spent" });
    bar.append(svg("rect", { x: 1, y: 1, width: width - 2, height: 12, class: "argument-everything" }), granted, spent);
    const says = element("p", { class: "argument-says", "aria-live": "polite" });
    const choice = element("p", { class: "argument-choice" }, element("label", { for: id }, `Method, ${label}: `), menu);
    return { menu, points, granted, spent, says, section: element("section", { class: "argument-side" }, choice, picture, bar, says) };
  }

  const sides = ["left", "right"].map((label, number) => makeSide(label, first[number]));
  const slider = element("input", { type: "range", id: "argument-budget", min: 0, max: data.shares.length - 1, step: 1 });
  const amount = element("output", { for: slider.id });
  const budget = element("div", { class: "argument-controls" }, element("label", { for: slider.id }, "Budget, as a share of the cost of evaluating everything"), slider, amount);
  const link = element("a", { class: "argument-link" }, "Link to this state");

  function describe(method, state, share) {
    if (!state.returned) return [`${method.label} cannot start: the budget does not pay for its first phase.`];
    const front = new Set(method.front);
    const returned = new Set(state.returned);
    const wrong = data.configurations.filter((_, arm) => returned.has(arm) !== front.has(arm)).length;
    const exact = element("strong", {}, `${method.label}: exact in ${percent(state.exact / data.replications)} of ${data.replications} runs.`);
    const outcome = wrong ? `errs on ${wrong} of ${data.configurations.length} configurations` : "returned exactly the front";
    return [exact, ` It left ${percent(1 - state.spent)} of the budget unspent. The run that is drawn ${outcome}.`];
  }

  function drawSide(side, place) {
    const method = data.methods[side.menu.value];
    const share = data.shares[place];
    const state = method.states[place];
    const pulls = state.pulls ?? data.costs.map(() => 0);
    const returned = new Set(state.returned ?? []);
    const most = Math.max(...pulls);
    side.section.style.setProperty("--method", method.themed);
    side.points.forEach(({ ring, outline, fill, halo, cross, title }, arm) => {
      const inFront = method.front.includes(arm);
      const out = returned.has(arm) ? "returned" : pulls[arm] < most ? "left" : "stays";
      const wrong = state.returned && returned.has(arm) !== inFront;
      ring.setAttribute("visibility", inFront ? "visible" : "hidden");
      fill.setAttribute("r", 5.5 * Math.sqrt(Math.min(1, pulls[arm] / data.instances)));
      outline.setAttribute("class", `argument-outline ${out}`);
      fill.setAttribute("class", `argument-fill ${out}`);
      halo.setAttribute("class", wrong ? "argument-halo" : "argument-right");
      cross.setAttribute("class", wrong ? "argument-wrong" : "argument-right");
      title.textContent = `${data.configurations[arm]}: ${pulls[arm]} evaluations, ${returned.has(arm) ? "" : "not "}returned, ${inFront ? "" : "not "}on the front`;
    });
    side.granted.setAttribute("width", share * (width - 2));
    side.spent.setAttribute("width", (state.spent ?? 0) * share * (width - 2));
    side.says.replaceChildren(...describe(method, state, share));
  }

  function draw() {
    const place = Number(slider.value);
    const share = data.shares[place];
    amount.textContent = `${percent(share)}, ${Math.round(share * data.everything).toLocaleString("en")} ${data.unit}`;
    for (const side of sides) drawSide(side, place);
    link.href = `#${sides.map((side) => side.menu.value).join("-")}-${Math.round(100 * share)}`;
  }

  // An address names both methods and the budget; one method alone, as in older addresses, is that at the right.
  function follow(address) {
    const parts = address.slice(1).split("-");
    const share = data.shares.findIndex((share) => Math.round(100 * share) === Number(parts.at(-1)));
    const chosen = parts.slice(0, -1).slice(-2);
    const known = share >= 0 && chosen.length > 0 && chosen.every((name) => names.includes(name));
    const methods = known ? [first[0], ...chosen].slice(-2) : first;
    sides.forEach((side, number) => { side.menu.value = methods[number]; });
    slider.value = known ? share : data.shares.indexOf(0.6);
    draw();
  }

  root.replaceChildren(budget, element("div", { class: "argument-sides" }, ...sides.map((side) => side.section)), link);
  root.addEventListener("input", draw);
  window.addEventListener("hashchange", () => follow(location.hash));
  follow(location.hash);
});
