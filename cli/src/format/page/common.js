"use strict";

// What the scripts of all pages use. The files of a page are one script, in the order that its Rust
// file says.

const byId = (id) => document.getElementById(id);

/** An element. All text goes in as text. */
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
