import { describe, expect, it } from "vitest";
import { dependents, layOut, NODE, type Order } from "./GraphLayout";

/** Waves as `1 2 | 3`, edges as `1>3` for needs and `1~3` for after. */
function order(waves: string, edges = "", criticalPath = ""): Order {
  const words = (text: string) => text.split(" ").filter(Boolean);
  return {
    waves: waves.split("|").map((wave) => words(wave)),
    edges: words(edges).map((edge) => {
      const [from = "", to = ""] = edge.split(/[>~]/);
      return { from, to, kind: edge.includes(">") ? "needs" : "after" };
    }),
    criticalPath: words(criticalPath),
    stages: [],
  };
}

describe("the graph of a batch", () => {
  it("puts waves in columns, centred", () => {
    const { nodes, width } = layOut(order("1 2 3 | 4", "1>4"));
    const at = (id: string) => nodes.find((node) => node.id === id);
    expect(nodes.map((node) => node.wave)).toEqual([0, 0, 0, 1]);
    expect(at("4")?.y).toBe(at("2")?.y);
    expect(at("4")?.x).toBeGreaterThan(NODE.width);
    expect(width).toBeGreaterThan(2 * NODE.width);
  });

  it("sorts a wave by where its predecessors stand", () => {
    const { nodes } = layOut(order("1 2 | 3 4", "2>3 1>4"));
    expect(nodes.filter((node) => node.wave === 1).map((node) => node.id)).toEqual(["4", "3"]);
  });

  it("marks the critical path, tasks and lines", () => {
    const { nodes, edges } = layOut(order("1 2 | 3", "1>3 2>3", "1 3"));
    expect(nodes.filter((node) => node.isCritical).map((node) => node.id)).toEqual(["1", "3"]);
    expect(edges.filter((edge) => edge.isCritical).map((edge) => edge.from)).toEqual(["1"]);
  });

  it("leaves out an order that others tell, never a need", () => {
    const told = (edges: string) =>
      layOut(order("1 | 2 | 3", edges)).edges.map((edge) => edge.from + edge.to);
    expect(told("1~2 2~3 1~3")).toEqual(["12", "23"]);
    expect(told("1~2 2~3 1>3")).toEqual(["12", "23", "13"]);
  });

  it("knows who waits for a task that failed", () => {
    expect([...dependents(order("1 | 2 | 3 4", "1>2 2>3 2~4"), ["1"])].sort()).toEqual(["2", "3"]);
  });

  it("lays out five hundred tasks at once", () => {
    const ids = Array.from({ length: 500 }, (_, i) => `t${i}`);
    const waves = Array.from({ length: 10 }, (_, w) => ids.slice(w * 50, w * 50 + 50).join(" ")).join("|");
    const edges = ids
      .slice(50)
      .map((id, i) => `${ids[i]}>${id}`)
      .join(" ");
    const began = performance.now();
    expect(layOut(order(waves, edges)).nodes).toHaveLength(500);
    expect(performance.now() - began).toBeLessThan(500);
  });
});
