// Functions of the figures' scripts: make an element of HTML or SVG with children, and change attributes.
const makers = (() => {
  const change = (node, attributes) => {
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  };
  const make = (space) => (tag, attributes = {}, ...children) => {
    const node = document.createElementNS(space, tag);
    change(node, attributes);
    node.append(...children);
    return node;
  };
  return { change, element: make("http://www.w3.org/1999/xhtml"), svg: make("http://www.w3.org/2000/svg") };
})();
