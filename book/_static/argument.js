// Draws what companion.pages.first_figure computed and the page holds as JSON. Nothing is computed here but places.
document.addEventListener("DOMContentLoaded", () => {
  const root = document.getElementById("argument");
  if (!root) return;
  const data = JSON.parse(document.getElementById("argument-data").textContent);
  const [width, height, left, bottom, top] = [720, 400, 56, 46, 12];
  const names = Object.keys(data.methods);
  const percent = (x) => `${Math.round(100 * x)} %`;

  const make = (space) => (tag, attributes = {}, ...children) => {
    const made = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const element = make();
  const svg = make("http://www.w3.org/2000/svg");

  // ---- native controls, so that keyboard and screen reader work

  const options = element("fieldset", {}, element("legend", {}, "Method"));
  for (const name of names) {
    const input = element("input", { type: "radio", name: "argument-method", id: `argument-${name}`, value: name });
    options.append(element("label", { for: input.id }, input, ` ${data.methods[name].label}`));
  }
  const slider = element("input", { type: "range", id: "argument-budget", min: 0, max: data.shares.length - 1, step: 1 });
  const amount = element("output", { for: slider.id });
  const budget = element("div", {}, element("label", { for: slider.id }, "Budget, as a share of the cost of evaluating everything"), slider, amount);
  const says = element("p", { class: "argument-says", "aria-live": "polite" });
  const link = element("a", { class: "argument-link" }, "Link to this state");

  // ---- the picture: a place per configuration, from the means over all instances

  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The configurations by their two scores; the fill of each shows how much of it was evaluated" });
  const scale = (axis, from, to) => {
    const values = data.means.map((mean) => mean[axis]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const place = (x) => from + ((x - low) / (high - low)) * (to - from);
    const step = (high - low) / 4 > 0.1 ? 0.2 : (high - low) / 4 > 0.05 ? 0.1 : 0.05;
    const ticks = [];
    for (let tick = Math.ceil(low / step); tick * step <= high; tick += 1) ticks.push(tick * step);
    return { place, ticks };
  };
  const across = scale(0, left + 16, width - 16);
  const up = scale(1, height - bottom - 14, top + 14);
  const axes = svg("g", { class: "argument-axes" });
  axes.append(svg("path", { d: `M${left},${top}V${height - bottom}H${width}` }));
  for (const tick of across.ticks) axes.append(svg("text", { x: across.place(tick), y: height - bottom + 16, "text-anchor": "middle" }, tick.toFixed(2)));
  for (const tick of up.ticks) axes.append(svg("text", { x: left - 6, y: up.place(tick) + 4, "text-anchor": "end" }, tick.toFixed(2)));
  axes.append(svg("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, data.objectives[0]));
  axes.append(svg("text", { x: 14, y: (height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(height - bottom) / 2})` }, data.objectives[1]));
  picture.append(axes);
  const points = data.means.map(([x, y], arm) => {
    const at = { cx: across.place(x), cy: up.place(y) };
    const [outline, fill, cross] = [svg("circle", { ...at, r: 6.5 }), svg("circle", at), svg("path", { d: `M${at.cx - 5},${at.cy - 5}l10,10m0,-10l-10,10` })];
    const title = svg("title");
    const ring = svg("circle", { ...at, r: 10, class: "argument-front" });
    picture.append(svg("g", {}, ring, outline, fill, cross, title));
    return { ring, outline, fill, cross, title };
  });
  const bar = svg("svg", { viewBox: `0 0 ${width} 18`, role: "presentation", class: "argument-bar" });
  const [whole, part] = [svg("rect", { x: 1, y: 1, height: 16 }), svg("rect", { x: 1, y: 1, height: 16 })];
  bar.append(svg("rect", { x: 1, y: 1, width: width - 2, height: 16, class: "argument-everything" }), whole, part);

  function draw() {
    const name = root.querySelector("input[type=radio]:checked").value;
    const place = Number(slider.value);
    const [method, share] = [data.methods[name], data.shares[place]];
    const state = method.states[place];
    root.style.setProperty("--method", method.themed);
    amount.textContent = `${percent(share)}, ${Math.round(share * data.everything).toLocaleString("en")} ${data.unit}`;
    const pulls = state.pulls ?? data.costs.map(() => 0);
    const returned = new Set(state.returned ?? []);
    const most = Math.max(...pulls);
    points.forEach(({ ring, outline, fill, cross, title }, arm) => {
      ring.setAttribute("visibility", method.front.includes(arm) ? "visible" : "hidden");
      const share = Math.min(1, pulls[arm] / data.instances);
      const out = returned.has(arm) ? "returned" : pulls[arm] < most ? "left" : "stays";
      fill.setAttribute("r", 6.5 * Math.sqrt(share));
      outline.setAttribute("class", `argument-outline ${out}`);
      fill.setAttribute("class", `argument-fill ${out}`);
      cross.setAttribute("class", state.returned && returned.has(arm) !== method.front.includes(arm) ? "argument-wrong" : "argument-right");
      title.textContent = `${data.configurations[arm]}: ${pulls[arm]} evaluations, ${returned.has(arm) ? "" : "not "}returned, ${method.front.includes(arm) ? "" : "not "}on the front`;
    });
    const spent = state.spent ?? 0;
    whole.setAttribute("class", "argument-unspent");
    whole.setAttribute("width", share * (width - 2));
    part.setAttribute("class", "argument-spent");
    part.setAttribute("width", spent * share * (width - 2));
    const wrong = data.configurations.filter((_, arm) => returned.has(arm) !== method.front.includes(arm)).length;
    says.replaceChildren(
      ...(state.returned
        ? [element("strong", {}, `${method.label}: exact in ${percent(state.exact / data.replications)} of ${data.replications} runs.`), ` It spent ${percent(spent * share)} of the cost of everything and left ${percent((1 - spent) * share)} of it unspent. The run that is drawn ${wrong ? `errs on ${wrong} of ${data.configurations.length} configurations` : "returned exactly the front"}.`]
        : [`${method.label} cannot start: the budget does not pay for what it must do first.`]),
    );
    link.href = `#${name}-${Math.round(100 * share)}`;
  }

  function follow(address) {
    const found = /^#(\w+)-(\d+)$/.exec(address);
    const known = found && names.includes(found[1]);
    const shares = data.shares.map((share) => Math.round(100 * share));
    root.querySelector(`#argument-${known ? found[1] : names.at(-1)}`).checked = true;
    slider.value = shares.indexOf(known && shares.includes(Number(found[2])) ? Number(found[2]) : 60);
    draw();
  }

  root.replaceChildren(element("div", { class: "argument-controls" }, options, budget), picture, bar, says, link);
  root.addEventListener("input", draw);
  window.addEventListener("hashchange", () => follow(location.hash));
  follow(location.hash);
});
