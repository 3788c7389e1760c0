// The way of every text of the board into the page: hidden characters become marks there, wherever the text comes from.
//
// What is typed into fields is left as it is.

import { Fragment, type JSX, jsx as make, jsxs as makeAll } from "react/jsx-runtime";
import { hides, pieces, visible } from "./visible";

export type { JSX };
export { Fragment };

type Type = Parameters<typeof make>[0];
type Props = Record<string, unknown> & { children?: unknown };

/** Elements that hold nothing but text. */
const PLAIN = new Set(["option", "script", "style", "text", "textarea", "title", "tspan"]);

/** Attributes that are shown or read out. */
const SHOWN = ["title", "aria-label", "alt", "placeholder"];

export function jsx(type: Type, props: unknown, key?: string) {
  return make(type, shown(type, props as Props), key);
}

export function jsxs(type: Type, props: unknown, key?: string) {
  return makeAll(type, shown(type, props as Props), key);
}

export function shown(type: Type, props: Props): Props {
  // Components of our own are functions, and hand on what they get to elements; those of libraries are objects.
  if (typeof type === "function") return props;
  let changed: Props | null = null;
  for (const name of SHOWN) {
    const text = props[name];
    if (typeof text === "string" && hides(text)) changed = { ...(changed ?? props), [name]: visible(text) };
  }
  const isPlain = typeof type === "string" ? PLAIN.has(type) : type !== Fragment;
  const { children } = props;
  if (type === "textarea") return changed ?? props;
  if (typeof children === "string") {
    if (hides(children)) changed = { ...(changed ?? props), children: marked(children, isPlain) };
  } else if (Array.isArray(children) && children.some((child) => typeof child === "string" && hides(child))) {
    changed = {
      ...(changed ?? props),
      children: children.map((child: unknown) =>
        typeof child === "string" ? marked(child, isPlain) : child,
      ),
    };
  }
  return changed ?? props;
}

function marked(text: string, isPlain: boolean) {
  if (isPlain || !hides(text)) return visible(text);
  const parts = pieces(text).map((piece) =>
    piece.isMark ? make("span", { className: "hidden-character", children: piece.text }) : piece.text,
  );
  return makeAll(Fragment, { children: parts });
}
