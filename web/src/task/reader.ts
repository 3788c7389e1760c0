// Reads a transcript that may still grow: what is seen, what is near it, and the tail while it is followed.

import type { components } from "../api/schema";
import type { Line, Usage } from "./entry";
import { around, type Gap, PAGE, Pages } from "./pages";

export type LogPage = components["schemas"]["TranscriptPage"];
export type Load = (from: number | "tail", limit: number, signal: AbortSignal) => Promise<LogPage>;

/** What a page knows of the transcript by now. */
export type LogState = {
  /** Goes up with every change. */
  version: number;
  total: number;
  isOpen: boolean;
  isOver: boolean;
  error: string | null;
  usage: Usage | null;
};

/** One attempt's transcript; whoever shows it says what is seen. */
export class Reader {
  readonly pages = new Pages<Line>();
  /** How the tools that were called ended, by the id of the call. */
  readonly results = new Map<string, string>();
  private state: LogState = { version: 0, total: 0, isOpen: false, isOver: false, error: null, usage: null };
  private readonly listeners = new Set<() => void>();
  private readonly asked: Gap[] = [];
  private abort = new AbortController();
  private known = 0;
  private usageLine = -1;
  private isTailing = false;
  private isFollowing = true;
  /** Whether what is on its way may be older than what was missed. */
  private isDue = false;

  constructor(private readonly load: Load) {}

  /** Fetches the end, which tells how long it is. */
  async open(): Promise<void> {
    this.abort = new AbortController();
    await this.fetched("tail", PAGE);
    if (this.known > this.pages.total) void this.tail();
    else if (this.isDue) this.check();
    this.isDue = false;
  }

  /** Gives up what is under way; it may be opened again. */
  close(): void {
    this.abort.abort();
    this.isTailing = false;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): LogState => this.state;

  /** Whether the end is looked at, so that new lines are fetched before they are counted. */
  follow(isFollowing: boolean): void {
    this.isFollowing = isFollowing;
    if (isFollowing && this.known > this.pages.total) void this.tail();
  }

  /** Hears how many lines there are by now. */
  told(total: number): void {
    this.known = Math.max(this.known, total);
    if (this.state.error) this.retry();
    else if (this.state.isOpen) this.goOn();
  }

  /** Looks at the end once more, as after the attempt ended. */
  check(): void {
    if (this.state.isOpen && !this.state.isOver) void this.fetched(this.pages.total, PAGE);
  }

  /** Fetches what is missing of the lines that are seen. */
  want(first: number, last: number): void {
    if (!this.state.isOpen || this.state.error) return;
    const [from, to] = around(first, last, this.pages.total);
    for (const gap of this.pages.missing(from, to, this.asked)) {
      if (this.asked.length >= 4) return;
      void this.fill(gap);
    }
  }

  /** Looks at the end, as after events may have been missed. */
  wake(): void {
    if (this.state.error) this.retry();
    else if (this.state.isOpen) this.check();
    else this.isDue = true;
  }

  /** Forgets that something went wrong and tries again. */
  retry(): void {
    if (!this.state.error) return;
    this.changed({ error: null });
    if (!this.state.isOpen) void this.open();
    else if (this.known > this.pages.total) this.goOn();
    else this.check();
  }

  private goOn(): void {
    if (this.known <= this.pages.total) return;
    if (this.isFollowing) void this.tail();
    else if (this.pages.grow(this.known)) this.changed({});
  }

  private async fill(gap: Gap): Promise<void> {
    this.asked.push(gap);
    try {
      await this.fetched(gap.from, gap.limit);
    } finally {
      this.asked.splice(this.asked.indexOf(gap), 1);
    }
  }

  private async tail(): Promise<void> {
    if (this.isTailing) return;
    this.isTailing = true;
    try {
      while (this.isFollowing && this.known > this.pages.total && !this.state.error) {
        const before = this.pages.total;
        // Far behind, only the very end is fetched; the rest comes when somebody looks.
        const from = this.known - before > 2 * PAGE ? this.known - PAGE : before;
        await this.fetched(from, PAGE);
        if (this.pages.total === before) break;
      }
    } finally {
      this.isTailing = false;
    }
  }

  private async fetched(from: number | "tail", limit: number): Promise<void> {
    const { signal } = this.abort;
    try {
      const page = await this.load(from, limit, signal);
      if (!signal.aborted) this.take(page);
    } catch (error) {
      if (signal.aborted) return;
      this.changed({ error: error instanceof Error ? error.message : String(error) });
    }
  }

  private take(page: LogPage): void {
    this.pages.put(page.from, page.entries);
    this.known = Math.max(this.known, page.total);
    // Lines that are known of but not fetched are counted once nobody waits to see them arrive.
    if (!this.isFollowing || !this.state.isOpen) this.pages.grow(this.known);
    let usage = this.state.usage;
    for (const { line, detail } of page.entries) {
      if (detail?.type === "tool_result") this.results.set(detail.id, detail.status);
      if (detail?.type === "usage" && line > this.usageLine) {
        this.usageLine = line;
        usage = detail;
      }
    }
    this.changed({ isOpen: true, isOver: page.isOver, error: null, usage });
    if (this.isFollowing && this.known > this.pages.total) void this.tail();
  }

  private changed(change: Partial<LogState>): void {
    this.state = { ...this.state, ...change, total: this.pages.total, version: this.state.version + 1 };
    for (const listener of this.listeners) listener();
  }
}
