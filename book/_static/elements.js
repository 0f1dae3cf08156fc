// Functions that make an element of HTML or SVG with attributes and children, for the scripts of the figures.
const makers = (() => {
  const make = (space) => (tag, attributes = {}, ...children) => {
    const node = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  return { element: make("http://www.w3.org/1999/xhtml"), svg: make("http://www.w3.org/2000/svg") };
})();
