// Tables of class "filterable" get a field above them: rows that do not hold all of its words are hidden.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.filterable")) {
    const rows = [...table.tBodies[0].rows];
    const field = document.createElement("input");
    const count = document.createElement("output");
    const show = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      count.textContent = ` ${shown} of ${rows.length} rows`;
    };
    field.type = "search";
    field.placeholder = "filter rows, such as: piqa predicted differs";
    field.setAttribute("aria-label", `Filter the rows of: ${table.caption?.textContent ?? "table"}`);
    field.addEventListener("input", show);
    const box = document.createElement("p");
    box.className = "filter";
    box.append(field, count);
    table.before(box);
    show();
  }
});
