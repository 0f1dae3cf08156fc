// Tables of class "filterable" get a field above them: rows that do not hold all of its words are hidden. Where rows are of
// several kinds, a button for each shows that kind alone. A row that the address names is shown whatever is chosen.

// A kind of exhibit or statement and its number are one word: "figure 4" finds neither Figure 14 nor a 4 elsewhere.
// A panel, such as figure 2c, is found by its figure.
const NUMBERED = /\b(algorithm|corollary|figure|lemma|section|table|theorem)\s+(\d+(?:\.\d+)*)[a-z]?\b/g;

function findTerms(query) {
  const numbered = [...query.matchAll(NUMBERED)].map(([, kind, number]) => new RegExp(`\\b${kind} ${number}(?![\\d.]*\\d)`));
  const words = query.replace(NUMBERED, " ").split(/\s+/).filter(Boolean);
  return [...numbered.map((term) => (text) => term.test(text)), ...words.map((word) => (text) => text.includes(word))];
}

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.filterable")) {
    const rows = [...table.tBodies[0].rows];
    const kinds = [...new Set(rows.map((row) => row.dataset.kind).filter(Boolean))];
    const field = document.createElement("input");
    const count = document.createElement("output");
    const box = document.createElement("p");
    const buttons = kinds.map((kind) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind;
      button.addEventListener("click", () => show(button.ariaPressed === "true" ? null : kind));
      return button;
    });
    let chosen = null;
    const show = (kind = chosen) => {
      chosen = kind;
      const terms = findTerms(field.value.toLowerCase());
      let shown = 0;
      for (const row of rows) {
        const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
        row.hidden = Boolean(chosen && row.dataset.kind !== chosen) || !terms.every((isIn) => isIn(text));
        shown += !row.hidden;
      }
      for (const button of buttons) button.ariaPressed = String(button.textContent === chosen);
      count.textContent = ` ${shown} of ${rows.length} rows`;
    };
    const follow = () => {
      const row = rows.find((each) => each.id && `#${each.id}` === location.hash);
      if (!row) return;
      field.value = "";
      show(null);
      row.scrollIntoView({ block: "center" });
    };
    field.type = "search";
    field.placeholder = "filter rows, such as: piqa fails";
    field.setAttribute("aria-label", `Filter the rows of: ${table.caption?.textContent ?? "table"}`);
    field.addEventListener("input", () => show());
    box.className = "filter";
    box.append(field, ...buttons, count);
    (table.closest(".text_html") ?? table).before(box);
    show();
    follow();
    window.addEventListener("hashchange", follow);
  }
});
