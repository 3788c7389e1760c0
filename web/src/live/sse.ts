// Reads server-sent events from pieces of text, as browsers do for `EventSource`, which cannot send a pass.

export type Sent = { name: string; data: string; id: string };

/** Takes pieces of a stream, and calls `tell` for each event in them that has data. */
export function reader(tell: (event: Sent) => void): (piece: string) => void {
  let rest = "";
  let name = "";
  let data: string[] = [];
  let id = "";

  const line = (text: string) => {
    if (text === "") {
      if (data.length > 0) tell({ name: name === "" ? "message" : name, data: data.join("\n"), id });
      name = "";
      data = [];
      return;
    }
    const colon = text.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
  };

  return (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) line(text.replace(/\r$/, ""));
  };
}
