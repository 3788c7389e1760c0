// What time it is, by the clock of the server.

import { useEffect, useState } from "react";
import { api, type BatchView } from "@/api/client";
import { isOver } from "./state";

/** How far two clocks may be apart before one is taken to be wrong; answers tell whole seconds. */
const NEAR_MS = 2_000;

let ahead = 0;

/** How far a server's clock is ahead, by what its answer says of when it was given. */
export function aheadBy(date: string | null, now: number): number {
  const said = date === null ? Number.NaN : Date.parse(date);
  return Number.isNaN(said) || Math.abs(said - now) < NEAR_MS ? 0 : said - now;
}

/** Looks at the date of every answer. */
export function followClock(): () => void {
  const reader = {
    onResponse({ response }: { response: Response }) {
      const date = response.headers.get("date");
      if (date) ahead = aheadBy(date, Date.now());
      return undefined;
    },
  };
  api.use(reader);
  return () => api.eject(reader);
}

function serverNow(): number {
  return Date.now() + ahead;
}

/** The time by the server's clock, a little later every second while `isRunning`. */
export function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(serverNow()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

/** Seconds in which somebody ran a batch, as the server counts them. */
export function useElapsed(batch: BatchView): number {
  const isRunning = !isOver(batch) && !batch.interrupted;
  const now = useNow(isRunning);
  const begun = Date.parse(batch.startedAt ?? batch.createdAt);
  const since = (until: number) => Math.max(0, (until - begun) / 1_000 - batch.idleSeconds);
  if (isRunning) return Math.max(batch.seconds, since(now));
  return batch.completedAt ? since(Date.parse(batch.completedAt)) : batch.seconds;
}
