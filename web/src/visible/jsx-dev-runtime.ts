// The same way into the page while the board is worked on.

import { jsxDEV as make } from "react/jsx-dev-runtime";
import { shown } from "./jsx-runtime";

export type { JSX } from "react/jsx-dev-runtime";
export { Fragment } from "react/jsx-dev-runtime";

export const jsxDEV: typeof make = (type, props, ...rest) =>
  make(type, shown(type, props as Record<string, unknown>), ...rest);
