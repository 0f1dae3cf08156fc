// Formulas and tables that are wider than their column scroll by themselves: the Tab key reaches those that do.
(() => {
  const wide = "div.math, mjx-container, .cell_output .text_html, .pst-scrollable-table-container";
  const reach = () => {
    for (const element of document.querySelectorAll(wide)) {
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
      if (scrolls && element.scrollWidth > element.clientWidth + 1) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    }
  };
  window.addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(reach));
  window.addEventListener("resize", reach);
})();
