// The tasks of a batch as a graph: waves as columns, who waits for whom, the critical path. Loaded when it is opened.

import {
  Background,
  BackgroundVariant,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import "./Graph.css";
import { Workflow } from "lucide-react";
import { memo, useMemo } from "react";
import { type BatchView, inWords } from "@/api/client";
import { Go } from "@/app/Go";
import { duration } from "@/text/format";
import { lookOf } from "@/ui/Badge";
import { cn } from "@/ui/cn";
import { EmptyState } from "@/ui/EmptyState";
import { Loading } from "@/ui/Skeleton";
import { dependents, layOut, NODE, type Order } from "./GraphLayout";
import { useOrder } from "./queries";
import { useTaskHref } from "./SummaryTask";

type TaskNode = Node<
  { batch: BatchView; task: BatchView["tasks"][number]; isCritical: boolean; isDim: boolean },
  "task"
>;
type WaveNode = Node<{ title: string }, "wave">;

export default function Graph({ batch }: { batch: BatchView }) {
  const { data: order, error } = useOrder(batch.id);
  if (error)
    return (
      <EmptyState icon={Workflow} title="Could not load the order of this batch">
        {inWords(error)}
      </EmptyState>
    );
  if (!order) return <Loading />;
  return <Drawn batch={batch} order={order} />;
}

function Drawn({ batch, order }: { batch: BatchView; order: Order }) {
  const layout = useMemo(() => layOut(order), [order]);
  const nodes = useMemo(() => nodesOf(batch, order, layout), [batch, order, layout]);
  const edges = useMemo(() => edgesOf(layout), [layout]);
  const fits = layout.width < 2 * window.innerWidth && layout.height < 2 * window.innerHeight;
  return (
    <div className="relative flex min-h-0 flex-1 flex-col" role="region" aria-label="Graph of tasks">
      <div className="min-h-0 flex-1">
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={TYPES}
          fitView={fits}
          fitViewOptions={FIT}
          defaultViewport={BEGIN}
          minZoom={0.15}
          maxZoom={1.5}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          onlyRenderVisibleElements={nodes.length > 80}
          zoomOnDoubleClick={false}
        >
          <Background variant={BackgroundVariant.Dots} gap={20} size={1} color="var(--line)" />
          <Controls showInteractive={false} position="top-right" />
        </ReactFlow>
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 border-t border-line px-4 py-1.5 text-xs text-fg-2">
        <span className="flex items-center gap-1.5">
          <span className="h-0.5 w-5 bg-running" aria-hidden /> Critical path
        </span>
        <span className="flex items-center gap-1.5">
          <span className="h-px w-5 bg-line-strong" aria-hidden /> Needs
        </span>
        <span className="flex items-center gap-1.5">
          <span className="w-5 border-t border-dashed border-line-strong" aria-hidden /> Comes after
        </span>
        <span className="text-fg-3">
          {order.waves.length} {order.waves.length === 1 ? "wave" : "waves"}, {batch.tasks.length} tasks
        </span>
      </p>
    </div>
  );
}

const FIT = { maxZoom: 1, padding: 0.12 };
/** Where a graph begins that would be too small to read as a whole. */
const BEGIN = { x: 16, y: 16, zoom: 0.8 };

function nodesOf(batch: BatchView, order: Order, layout: ReturnType<typeof layOut>): (TaskNode | WaveNode)[] {
  const tasks = new Map(batch.tasks.map((task) => [task.taskId, task]));
  const broken = batch.tasks
    .filter((task) => task.outcome && task.status !== "completed")
    .map((task) => task.taskId);
  const dim = dependents(order, broken);
  const size = { width: NODE.width, height: NODE.height };
  const placed = layout.nodes.flatMap((node): TaskNode[] => {
    const task = tasks.get(node.id);
    if (!task) return [];
    return [
      {
        id: node.id,
        type: "task",
        position: { x: node.x, y: node.y },
        ...size,
        data: {
          batch,
          task,
          isCritical: node.isCritical,
          isDim: dim.has(node.id) && task.status !== "completed",
        },
      },
    ];
  });
  const titles = order.waves.map((wave, i): WaveNode => {
    const x = layout.nodes.find((node) => node.wave === i)?.x ?? 0;
    return {
      id: `wave ${i}`,
      type: "wave",
      position: { x, y: 0 },
      width: NODE.width,
      height: 24,
      data: { title: `Wave ${i + 1} · ${wave.length}` },
    };
  });
  return [...titles, ...placed];
}

function edgesOf(layout: ReturnType<typeof layOut>): Edge[] {
  return layout.edges.map((edge) => {
    const colour = edge.isCritical ? "var(--running)" : "var(--line-strong)";
    return {
      id: `${edge.from} ${edge.to}`,
      source: edge.from,
      target: edge.to,
      zIndex: edge.isCritical ? 1 : 0,
      style: {
        stroke: colour,
        strokeWidth: edge.isCritical ? 2 : 1,
        ...(edge.kind === "needs" ? {} : { strokeDasharray: "4 4" }),
      },
      markerEnd: { type: MarkerType.ArrowClosed, color: colour, width: 14, height: 14 },
    };
  });
}

const TaskBox = memo(function TaskBox({ data }: NodeProps<TaskNode>) {
  const { batch, task, isCritical, isDim } = data;
  const href = useTaskHref(batch, task.taskId);
  const look = lookOf(task.outcome ?? task.state);
  const body = (
    <>
      <span className="flex items-center gap-1.5 text-2xs text-fg-3">
        <look.icon className={cn("size-3 shrink-0", look.tone)} aria-hidden />
        <span className="min-w-16 text-fg-2">{look.word}</span>
        <span className="min-w-0 flex-1 truncate font-mono">{task.key}</span>
        {task.seconds > 0 ? <span>{duration(task.seconds)}</span> : null}
        {isCritical ? <span className="sr-only">on the critical path</span> : null}
      </span>
      <span className="mt-0.5 line-clamp-2 text-xs font-medium text-fg">{task.title}</span>
    </>
  );
  const className = cn(
    "block h-full overflow-hidden rounded-lg border bg-raised px-2.5 py-1.5",
    isCritical ? "border-running" : "border-line-strong",
    isDim && "border-dashed bg-surface",
    href && "hover:bg-hover",
  );
  return (
    <div style={{ width: NODE.width, height: NODE.height }}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {href ? (
        <Go href={href} className={className}>
          {body}
        </Go>
      ) : (
        <div className={className}>{body}</div>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

function WaveTitle({ data }: NodeProps<WaveNode>) {
  return <div className="text-xs font-medium text-fg-3">{data.title}</div>;
}

const TYPES = { task: TaskBox, wave: WaveTitle };
