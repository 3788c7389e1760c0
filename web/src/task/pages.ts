// The part of a transcript that is held in memory: pages of lines, the least used of which go.

/** How many lines a page has. */
export const PAGE = 500;

/** A run of lines that is wanted. */
export type Gap = { from: number; limit: number };

type Held<L> = { lines: (L | undefined)[]; used: number };

/** Lines by their numbers; knows nothing of how they are fetched. */
export class Pages<L> {
  private readonly held = new Map<number, Held<L>>();
  private clock = 0;
  private count = 0;

  constructor(private readonly most = 40) {}

  /** How many lines there are, held or not. */
  get total(): number {
    return this.count;
  }

  /** Says how many lines there are; it never gets fewer. */
  grow(total: number): boolean {
    if (total <= this.count) return false;
    this.count = total;
    return true;
  }

  /** A line, if it is held. */
  line(number: number): L | undefined {
    const page = this.held.get(Math.floor(number / PAGE));
    if (page) page.used = ++this.clock;
    return page?.lines[number % PAGE];
  }

  /** Takes lines in; those beyond what was known make it longer. */
  put(from: number, lines: readonly L[]): void {
    lines.forEach((line, i) => {
      const number = from + i;
      const key = Math.floor(number / PAGE);
      let page = this.held.get(key);
      if (!page) {
        page = { lines: [], used: 0 };
        this.held.set(key, page);
      }
      page.used = ++this.clock;
      page.lines[number % PAGE] = line;
    });
    this.grow(from + lines.length);
    this.drop();
  }

  /** What is missing of the lines from `first` to `last` and not asked for yet, in runs of at most a page. */
  missing(first: number, last: number, asked: readonly Gap[] = []): Gap[] {
    const isAsked = (line: number) => asked.some((gap) => line >= gap.from && line < gap.from + gap.limit);
    const gaps: Gap[] = [];
    const end = Math.min(last, this.count - 1);
    let open: Gap | null = null;
    for (let number = Math.max(0, first); number <= end; number++) {
      const page = this.held.get(Math.floor(number / PAGE));
      if ((page && page.lines[number % PAGE] !== undefined) || isAsked(number)) {
        open = null;
      } else if (open && open.limit < PAGE) {
        open.limit += 1;
      } else {
        open = { from: number, limit: 1 };
        gaps.push(open);
      }
    }
    return gaps;
  }

  /** Every line that is held, in order. */
  *lines(): Generator<[number, L]> {
    for (const key of [...this.held.keys()].sort((a, b) => a - b)) {
      for (const [i, line] of (this.held.get(key)?.lines ?? []).entries()) {
        if (line !== undefined) yield [key * PAGE + i, line];
      }
    }
  }

  private drop(): void {
    while (this.held.size > this.most) {
      let oldest = -1;
      let least = Number.POSITIVE_INFINITY;
      for (const [key, page] of this.held) {
        if (page.used < least) [oldest, least] = [key, page.used];
      }
      this.held.delete(oldest);
    }
  }
}

/** Widens what is seen to whole pages, so that scrolling finds its lines there. */
export function around(first: number, last: number, total: number): [number, number] {
  const from = Math.max(0, Math.floor((first - PAGE / 4) / PAGE) * PAGE);
  const to = Math.min(total, Math.ceil((last + 1 + PAGE / 4) / PAGE) * PAGE) - 1;
  return [from, to];
}
