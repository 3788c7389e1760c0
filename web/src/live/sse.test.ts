// Events are read whole, however the stream was cut.

import { expect, test } from "vitest";
import { reader, type Sent } from "./sse";

const stream =
  ': hello\nretry: 1000\n\nid: 4\nevent: batch:started\ndata: {"a":1}\n\nevent: x\r\ndata: one\r\ndata:two\r\n\r\nid: 9\n\ndata\n\n';

function read(pieces: string[]): Sent[] {
  const heard: Sent[] = [];
  const take = reader((event) => heard.push(event));
  for (const piece of pieces) take(piece);
  return heard;
}

const expected = [
  { name: "batch:started", data: '{"a":1}', id: "4" },
  { name: "x", data: "one\ntwo", id: "4" },
  { name: "message", data: "", id: "9" },
];

test("events have names, data and the last number", () => {
  expect(read([stream])).toEqual(expected);
});

test("it does not matter where a stream is cut", () => {
  for (let at = 1; at < stream.length; at += 1)
    expect(read([stream.slice(0, at), stream.slice(at)])).toEqual(expected);
  expect(read([...stream])).toEqual(expected);
});

test("an event without its end is none", () => {
  expect(read(["data: half\n"])).toEqual([]);
});
