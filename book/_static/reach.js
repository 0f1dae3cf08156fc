// Formulas, tables and panels that are wider than their column scroll by themselves: the Tab key reaches those that do,
// and the style sheet fades the edge where they go on.  What opens a part of the menu gets a name.
(() => {
  const boxes = "div.math, span.math, mjx-container, .cell_output .text_html, .panels > div, .pst-scrollable-table-container, div.highlight > pre";
  const column = (element) => {
    while (getComputedStyle(element).display.startsWith("inline")) element = element.parentElement;
    return element.clientWidth;
  };
  const goesOn = (element) => element.scrollLeft + element.clientWidth < element.scrollWidth - 1;
  const reach = () => {
    for (const formula of document.querySelectorAll("span.math > mjx-container")) {
      const wide = formula.getBoundingClientRect().width > column(formula.parentElement.parentElement);
      formula.parentElement.classList.toggle("wide", wide);
    }
    for (const element of document.querySelectorAll(boxes)) {
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
      const wide = scrolls && element.scrollWidth > element.clientWidth + 1;
      element.classList.toggle("scrolls", wide && goesOn(element));
      if (wide) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    }
  };
  const settled = () => {
    reach();
    for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
      summary.setAttribute("aria-label", `Pages below ${summary.closest("li").querySelector("a").textContent.trim()}`);
    }
    // not the window's resizing: the sidebars move for a while after it
    new ResizeObserver(reach).observe(document.querySelector("article") ?? document.body);
  };
  window.addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(settled));
  document.addEventListener("toggle", reach, true); // what a dropdown hides has no width
  document.addEventListener("scroll", ({ target }) => {
    if (target.tabIndex === 0 && target.matches?.(boxes)) target.classList.toggle("scrolls", goesOn(target));
  }, true);
})();
