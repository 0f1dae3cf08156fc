// Lets the reader move the arms that companion.pages.draggable_gaps described, and draws their classification gaps.
// Means are whole numbers of steps, so that sums and ties are exact.
document.addEventListener("DOMContentLoaded", () => {
  const root = document.getElementById("gaps");
  if (!root) return;
  const data = JSON.parse(root.dataset.arms);
  const { names, steps } = data;
  const [side, left, top, bottom] = [340, 54, 6, 42];
  const [low, high] = data.limits;
  let means = data.means.map((mean) => [...mean]);
  let marked = 0;

  const { change, element, svg } = makers;
  const show = (length) => (length / steps).toFixed(3);

  // ---- gaps, as in cobandit.dominance.gap_terms

  function findGaps() {
    const arms = [...means.keys()];
    const others = (i) => arms.filter((j) => j !== i);
    const lead = (i, j) => Math.max(...means[i].map((score, d) => score - means[j][d]));
    // the first arm with the smallest value, and this value
    const smallest = (candidates, value) => candidates.reduce((best, j) => (value(j) < value(best) ? j : best));
    const dominators = arms.map((i) => smallest(others(i), (j) => lead(i, j)));
    const below = arms.map((i) => Math.max(-lead(i, dominators[i]), 0));
    return arms.map((i) => {
      if (below[i] > 0) return { front: false, gap: below[i], by: dominators[i], squares: [[i, below[i]]] };
      const needed = (j) => Math.max(lead(j, i), 0) + below[j];
      const by = smallest(others(i), (j) => Math.min(lead(i, j), needed(j)));
      const gap = Math.min(lead(i, by), needed(by));
      if (lead(i, by) <= needed(by)) return { front: true, gap, by, squares: [[i, -gap]] };
      return { front: true, gap, by, needed: true, squares: [[by, -Math.max(lead(by, i), 0)], [by, below[by]]] };
    });
  }

  function explain(i, { front, by, squares, needed }) {
    const [arm, other] = [names[i], names[by]];
    const [[, first], [, second] = []] = squares;
    if (!front) return `${arm} is dominated: both scores of ${other} are larger by ${show(first)} or more.`;
    if (!needed) return `${arm} is on the front. If both of its scores fell by more than ${show(-first)}, ${other} would dominate it.`;
    const changes = [];
    if (second) changes.push(`${other} would be on the front if its scores rose by ${show(second)}`);
    if (first) changes.push(`${arm} would dominate ${other} if the scores of ${other} fell by more than ${show(-first)}`);
    return `${arm} is on the front. ${changes.join("; ")}.`;
  }

  // ---- the plane

  const across = (x) => left + ((x - low) / (high - low)) * side;
  const up = (y) => top + side - ((y - low) / (high - low)) * side;
  const length = (share) => (share / (high - low)) * side;
  const place = (mean) => [across(mean[0] / steps), up(mean[1] / steps)];

  const plane = svg("svg", { viewBox: `0 0 ${left + side + 4} ${top + side + bottom}`, role: "group", "aria-label": "Arms by two scores" });
  const frame = { x: left, y: top, width: side, height: side };
  const region = svg("rect", { class: "gaps-region" });
  const squares = [0, 1].map(() => svg("rect", { class: "gaps-square" }));
  const rings = ["gaps-marked", "gaps-decides"].map((look) => svg("circle", { r: 14, class: look }));
  const clip = svg("clipPath", { id: "gaps-frame" }, svg("rect", frame));
  const axes = svg("g", { class: "gaps-axes", "aria-hidden": "true" }, svg("path", { d: `M${left},${top}v${side}h${side}` }));
  for (const tick of [0, 0.5, 1]) {
    axes.append(svg("text", { x: across(tick), y: top + side + 17, "text-anchor": "middle" }, `${tick}`));
    axes.append(svg("text", { x: left - 7, y: up(tick) + 4, "text-anchor": "end" }, `${tick}`));
  }
  axes.append(svg("text", { x: left + side / 2, y: top + side + 36, "text-anchor": "middle" }, data.objectives[0]));
  axes.append(svg("text", { x: 12, y: top + side / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${top + side / 2})` }, data.objectives[1]));
  const points = names.map((name) => {
    const dot = svg("circle", { r: 6 });
    const group = svg("g", { class: "gaps-arm", tabindex: 0, role: "slider", "aria-valuemin": 0, "aria-valuemax": 1 }, svg("circle", { r: 22, class: "gaps-handle" }), dot, svg("text", { x: 14, y: 19, "aria-hidden": "true" }, name));
    return { group, dot };
  });
  plane.append(clip, axes, svg("g", { "clip-path": "url(#gaps-frame)" }, region, ...squares), ...rings, ...points.map(({ group }) => group));

  // ---- the table, one row per arm

  const rows = names.map((name) => {
    const cells = [0, 1, 2].map(() => element("td"));
    const bar = element("span");
    return { cells, bar, row: element("tr", {}, element("th", { scope: "row" }, name), ...cells, element("td", { class: "gaps-lengths" }, bar)) };
  });
  const heads = ["arm", "on front", "decided by", "gap", ""].map((word) => element(word ? "th" : "td", word ? { scope: "col" } : {}, word));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows.map(({ row }) => row)));
  const says = element("p", { class: "gaps-says", "aria-live": "polite" });
  const reset = element("button", { type: "button" }, "Reset");
  const hint = element("p", {}, "Drag an arm, or use arrow keys (with Shift, larger steps). Outlined: the two smallest gaps. ", reset);

  function draw() {
    const gaps = findGaps();
    const sorted = gaps.map(({ gap }) => gap).sort((first, second) => first - second);
    const longest = Math.max(sorted.at(-1), steps / 2);
    gaps.forEach(({ front, gap, by }, i) => {
      const [x, y] = place(means[i]);
      change(points[i].group, {
        transform: `translate(${x} ${y})`,
        "aria-label": `Arm ${names[i]}`,
        "aria-valuenow": means[i][0] / steps,
        "aria-valuetext": `${data.objectives[0]} ${show(means[i][0])}, ${data.objectives[1]} ${show(means[i][1])}; ${front ? "on the front" : "dominated"}, gap ${show(gap)}, decided by ${names[by]}`,
      });
      change(points[i].dot, { class: front ? "gaps-front" : "gaps-dominated" });
      rows[i].row.className = i === marked ? "gaps-row" : "";
      rows[i].cells.forEach((cell, k) => { cell.textContent = [front ? "yes" : "no", names[by], show(gap)][k]; });
      rows[i].bar.style.width = `${(100 * gap) / longest}%`;
      rows[i].bar.className = gap <= sorted[1] ? "gaps-bar gaps-smallest" : "gaps-bar";
    });
    const { by, needed } = gaps[marked];
    const [right, upper] = place(means[needed ? marked : by]);
    change(region, { x: left, y: upper, width: right - left, height: top + side - upper });
    squares.forEach((square, k) => {
      const [arm, step] = gaps[marked].squares[k] ?? [marked, 0];
      const [x, y] = place(means[arm]);
      const size = length(Math.abs(step) / steps);
      change(square, { x: step < 0 ? x - size : x, y: step < 0 ? y : y - size, width: size, height: size });
    });
    rings.forEach((ring, k) => {
      const [cx, cy] = place(means[k ? by : marked]);
      change(ring, { cx, cy });
    });
    says.textContent = explain(marked, gaps[marked]);
  }

  function move(i, mean) {
    marked = i;
    means[i] = mean.map((score) => Math.min(steps, Math.max(0, Math.round(score))));
    draw();
  }

  points.forEach(({ group }, i) => {
    let grip = null;  // from the pointer to the mean
    const pointed = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(plane.getScreenCTM().inverse());
      return [((at.x - left) / side) * (high - low) + low, ((top + side - at.y) / side) * (high - low) + low].map((score) => score * steps);
    };
    group.addEventListener("pointerdown", (event) => {
      group.setPointerCapture(event.pointerId);
      const at = pointed(event);
      grip = means[i].map((score, d) => score - at[d]);
    });
    group.addEventListener("pointermove", (event) => { if (grip) move(i, pointed(event).map((score, d) => score + grip[d])); });
    for (const end of ["pointerup", "pointercancel"]) group.addEventListener(end, () => { grip = null; });
    group.addEventListener("focus", () => { marked = i; draw(); });
    group.addEventListener("keydown", (event) => {
      const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
      if (!direction) return;
      event.preventDefault();
      const step = (event.shiftKey ? 0.1 : 0.01) * steps;
      move(i, means[i].map((score, d) => score + step * direction[d]));
    });
  });
  reset.addEventListener("click", () => { means = data.means.map((mean) => [...mean]); marked = 0; draw(); });

  // the static figure stays for print
  root.classList.add("movable");
  root.prepend(element("div", { class: "gaps-plane" }, plane), element("div", { class: "gaps-words" }, table, says, hint));
  draw();
});
