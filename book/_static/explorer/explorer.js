// Draws what cobandit.explorer computed and the page holds as JSON. Nothing is computed here but places on a page.
document.addEventListener("DOMContentLoaded", () => {
  const root = document.getElementById("cobandit-explorer");
  if (!root) return;
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const symbols = { o: "circle", s: "square", D: "diamond", "^": "triangle", v: "wye", P: "cross", X: "star" };
  const shown = 12; // configurations in the picture of the allocation; the table has all

  const number = (x) => (x === null ? "none" : x.toLocaleString("en", { maximumSignificantDigits: 4 }));
  const plusMinus = (x, half) => (half === null ? number(x) : `${number(x)} ± ${number(half)}`);
  const interval = ([mean, low, high]) => `${number(mean)} (${number(low)} to ${number(high)})`;
  const list = (words) => words.join(", ").replace(/, ([^,]*)$/, " and $1");

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // ---- the controls: native ones, so that keyboard and screen reader work

  const choices = {};
  const controls = element("fieldset", { class: "explorer-controls" }, element("legend", {}, "Choose a replay"));
  for (const [name, label] of [
    ["table", "Table"],
    ["objectives", "Objectives"],
    ["method", "Method"],
    ["budget", "Budget ρ, evaluations per configuration"],
    ["measure", "Measure"],
  ]) {
    choices[name] = element("select", { id: `explorer-${name}` });
    choices[name].addEventListener("change", update);
    controls.append(element("div", {}, element("label", { for: `explorer-${name}` }, label), choices[name]));
  }

  function offer(name, options) {
    const before = choices[name].value;
    choices[name].replaceChildren(...options.map(([value, label]) => element("option", { value }, label)));
    if (options.some(([value]) => String(value) === before)) choices[name].value = before;
    else if (name === "budget") choices[name].selectedIndex = options.length - 1; // the largest: enough is spent to tell methods apart
  }

  offer("table", data.tables.map((table, place) => [place, table.shown]));
  for (const [task, label] of [["online", "Online selection"], ["identification", "Pareto identification"]]) {
    const members = Object.entries(data.methods).filter(([, method]) => method.task === task);
    const options = members.map(([name, method]) => element("option", { value: name }, method.label));
    choices.method.append(element("optgroup", { label }, ...options));
  }

  // ---- what they choose

  function selection() {
    const table = data.tables[choices.table.value];
    offer("objectives", table.views.map((view, place) => [place, list(view.objectives)]));
    const view = table.views[choices.objectives.value];
    const method = data.methods[choices.method.value];
    const cells = view.replays[method.task];
    offer("budget", [...new Set(cells.map((cell) => cell.rho))].map((rho) => [rho, number(rho)]));
    offer("measure", Object.entries(data.measures[method.task]).map(([name, [label]]) => [name, label]));
    const rho = Number(choices.budget.value);
    const cell = cells.find((one) => one.method === choices.method.value && one.rho === rho);
    const measure = choices.measure.value;
    const [label, less] = data.measures[method.task][measure];
    const arms = table.configurations.map((name, arm) => ({
      name,
      cost: table.costs[arm],
      front: view.front.includes(arm),
      best: arm === view.best,
      pulls: cell.pulls ? cell.pulls.mean[arm] : 0,
      half: cell.pulls ? cell.pulls.half[arm] : null,
      values: view.objectives.map((name) => [table.means[name].mean[arm], table.means[name].half[arm]]),
    }));
    arms.sort((a, b) => b.pulls - a.pulls);
    return { table, view, method, cells, cell, rho, measure, label, less, arms };
  }

  // ---- words and numbers: everything that the pictures show

  function sentence({ table, view, method, cell, rho, measure, label, arms }) {
    const best = arms.find((arm) => arm.best);
    const about =
      `${table.shown}, objectives ${list(view.objectives)}: the front has ${view.front.length} of ${arms.length} configurations; ` +
      `the best return on cost has ${best.name}. `;
    const budget = `a budget of ρ = ${number(rho)} (${number(cell.budget)} ${table.unit})`;
    if (!cell.pulls) return `${about}For ${method.label}, ${budget} is too small.`;
    const first = arms[0];
    return (
      `${about}${method.label} with ${budget}, mean of ${data.replications} replays: ${label} ` +
      `${interval(cell[measure])}, in brackets the 95 % interval. It spends ${number(100 * cell.spent)} % of the budget. ` +
      `Most pulls go to ${first.name}, ${plusMinus(first.pulls, first.half)} a run ` +
      `(${first.best ? "the best return on cost" : first.front ? "on the front" : "not on the front"}).`
    );
  }

  function tableOf(caption, head, rows) {
    const row = (cells, tag) =>
      element("tr", {}, ...cells.map((cell, place) => element(place ? tag : "th", { scope: tag === "th" ? "col" : "row" }, cell)));
    const made = element(
      "table",
      { class: "table" },
      element("caption", {}, caption),
      element("thead", {}, row(head, "th")),
      element("tbody", {}, ...rows.map((cells) => row(cells, "td"))),
    );
    for (const cell of made.querySelectorAll("td")) cell.removeAttribute("scope");
    return element("div", { class: "explorer-scroll", tabindex: 0, role: "region", "aria-label": caption }, made);
  }

  const configurations = ({ table, view, method, rho, arms }) =>
    tableOf(
      `Configurations, by pulls of ${method.label} at ρ = ${number(rho)}: mean ± half of the 95 % interval`,
      ["configuration", ...view.objectives, `cost, ${table.unit}`, "on the front", "pulls a run"],
      arms.map((arm) => [
        arm.name,
        ...arm.values.map(([mean, half]) => plusMinus(mean, half)),
        number(arm.cost),
        arm.front ? "yes" : "no",
        plusMinus(arm.pulls, arm.half),
      ]),
    );

  function methods({ cells, method, measure, label }) {
    const members = Object.entries(data.methods).filter(([, other]) => other.task === method.task);
    const rhos = [...new Set(cells.map((cell) => cell.rho))];
    const value = (name, rho) => {
      const cell = cells.find((one) => one.method === name && one.rho === rho);
      return cell.pulls ? interval(cell[measure]) : "budget too small";
    };
    return tableOf(
      `Mean ${label} (95 % interval), by budget ρ`,
      ["method", ...rhos.map((rho) => `ρ = ${number(rho)}`)],
      members.map(([name, other]) => [other.label, ...rhos.map((rho) => value(name, rho))]),
    );
  }

  // ---- the pictures

  const width = () => Math.max(280, root.clientWidth);
  const spread = ([mean, half]) => [Math.max(0, mean - (half ?? 0)), mean + (half ?? 0)]; // neither scores nor pulls are negative

  function frontPicture({ table, view, arms }) {
    // two objectives against each other; a single one against the cost
    const flat = view.objectives.length === 1;
    const x = (arm) => (flat ? arm.cost : arm.values[0][0]);
    const y = (arm) => arm.values[flat ? 0 : 1][0];
    const colour = (arm) => (arm.front ? "#0173b2" : "#949494");
    const bars = { stroke: colour, strokeOpacity: 0.4 };
    return Plot.plot({
      width: width(),
      height: 350,
      marginLeft: 50,
      marginBottom: 42,
      r: { range: [2.5, 14] },
      x: { label: flat ? `mean cost, ${table.unit}` : `mean ${view.objectives[0]}`, type: flat ? "log" : "linear", grid: true, ticks: 5, tickFormat: number },
      y: { label: `mean ${view.objectives[flat ? 0 : 1]}`, grid: true, ticks: 6 },
      marks: [
        Plot.ruleX(arms, { x, y1: (arm) => spread(arm.values[flat ? 0 : 1])[0], y2: (arm) => spread(arm.values[flat ? 0 : 1])[1], ...bars }),
        flat ? null : Plot.ruleY(arms, { y, x1: (arm) => spread(arm.values[0])[0], x2: (arm) => spread(arm.values[0])[1], ...bars }),
        Plot.dot(arms, { x, y, r: "pulls", fill: (arm) => (arm.front ? "#0173b2" : "none"), stroke: colour, strokeWidth: 1.5, fillOpacity: 0.6 }),
        Plot.dot(arms.filter((arm) => arm.best), { x, y, symbol: "star", r: 6, fill: "#d55e00" }),
        Plot.tip(arms, Plot.pointer({ x, y, title: (arm) => `${arm.name}\n${plusMinus(arm.pulls, arm.half)} pulls a run` })),
      ],
    });
  }

  function allocationPicture({ method, arms }) {
    const most = arms.slice(0, shown);
    const room = Math.min(260, Math.round(0.45 * width()));
    return Plot.plot({
      width: width(),
      height: 50 + 22 * most.length,
      marginLeft: room,
      marginBottom: 42,
      x: { label: "pulls a run", grid: true, ticks: 4, tickFormat: number },
      y: { label: null, domain: most.map((arm) => arm.name) },
      marks: [
        Plot.axisY({ label: null, tickSize: 0, textOverflow: "ellipsis", lineWidth: room / 11 }),
        Plot.barX(most, { x: "pulls", y: "name", fill: method.color, fillOpacity: (arm) => (arm.front ? 1 : 0.5) }),
        Plot.ruleY(most, { y: "name", x1: (arm) => spread([arm.pulls, arm.half])[0], x2: (arm) => spread([arm.pulls, arm.half])[1], strokeWidth: 1.5 }),
        Plot.tip(most, Plot.pointerY({ x: "pulls", y: "name", title: (arm) => `${arm.name}\n${plusMinus(arm.pulls, arm.half)} pulls a run` })),
      ],
    });
  }

  function measurePicture({ cells, method, rho, measure, label, less }) {
    const members = Object.values(data.methods).filter((other) => other.task === method.task);
    const points = cells
      .filter((cell) => cell.pulls)
      .map((cell) => ({ rho: cell.rho, label: data.methods[cell.method].label, mean: cell[measure][0], low: cell[measure][1], high: cell[measure][2] }));
    const chosen = (point) => (point.label === method.label ? 1 : 0.45);
    const log = measure.endsWith("regret") && points.every((point) => point.low > 0);
    return Plot.plot({
      width: width(),
      height: 330,
      marginLeft: 55,
      marginBottom: 42,
      x: { label: "budget ρ, evaluations per configuration", type: "log", base: 2, ticks: [...new Set(cells.map((cell) => cell.rho))], tickFormat: number },
      y: { label: `${label} (${less ? "less" : "more"} is better)`, type: log ? "log" : "linear", grid: true, ticks: 5, tickFormat: number, zero: !log },
      color: { domain: members.map((other) => other.label), range: members.map((other) => other.color) },
      symbol: { domain: members.map((other) => other.label), range: members.map((other) => symbols[other.marker]), legend: true },
      marks: [
        Plot.ruleX([rho], { strokeDasharray: "3 3" }),
        Plot.ruleX(points, { x: "rho", y1: "low", y2: "high", stroke: "label", strokeWidth: 2, strokeOpacity: chosen }),
        Plot.lineY(points, { x: "rho", y: "mean", z: "label", stroke: "label", strokeWidth: 2, strokeOpacity: chosen }),
        Plot.dot(points, { x: "rho", y: "mean", symbol: "label", fill: "label", r: 4.5 }),
        Plot.tip(points, Plot.pointer({ x: "rho", y: "mean", title: (point) => `${point.label}, ρ = ${number(point.rho)}\n${interval([point.mean, point.low, point.high])}` })),
      ],
    });
  }

  // ---- the page

  const says = element("p", { class: "explorer-says", role: "status" });
  const figure = () => element("figure", { class: "explorer-figure" }, element("figcaption"), element("div", { role: "img" }));
  const figures = [figure(), figure(), figure()];
  const details = (summary) => element("details", {}, element("summary", {}, summary), element("div"));
  const tables = [details("The same as a table: every configuration"), details("The same as a table: every method and budget")];
  root.replaceChildren(controls, says, ...figures, ...tables);

  function draw(now) {
    const captions = [
      `The front of ${now.table.shown}: blue is Pareto-optimal, grey is not, the star has the best return on cost; the area is the pulls of ${now.method.label}; bars are 95 % intervals of the means`,
      `Where ${now.method.label} spends on ${now.table.shown}: the ${Math.min(shown, now.arms.length)} most pulled of ${now.arms.length} configurations, full colour for the front; bars are 95 % intervals`,
      `By budget, on ${now.table.shown}, the ${now.label}: means with 95 % intervals; the dashed line is the chosen budget`,
    ];
    [frontPicture, allocationPicture, measurePicture].forEach((picture, place) => {
      const [caption, frame] = figures[place].children;
      caption.textContent = captions[place];
      frame.setAttribute("aria-label", `${captions[place]}. The tables below hold the same numbers.`);
      const drawn = picture(now);
      // the frame says it all; names of groups that have no role would be heard by some and by others not
      drawn.querySelectorAll("[aria-label]").forEach((part) => part.removeAttribute("aria-label"));
      frame.replaceChildren(drawn);
    });
  }

  let last = 0;
  function update() {
    const now = selection();
    says.textContent = sentence(now);
    tables[0].lastChild.replaceChildren(configurations(now));
    tables[1].lastChild.replaceChildren(methods(now));
    last = root.clientWidth;
    draw(now);
  }

  update();
  new ResizeObserver(() => root.clientWidth !== last && update()).observe(root);
});
