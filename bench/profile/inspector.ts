// The runtime's inspector (Chrome DevTools Protocol over a WebSocket), as far as a profile needs it.
import type { Profile } from "./self-times.ts";

export interface Profiler {
  stop(): Promise<Profile>;
}

/** Starts sampling the worker's isolate: the edge and its objects, which share it. */
export async function startProfiler(port: number, workerName: string, sampleEveryUs: number): Promise<Profiler> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/core:user:${workerName}`);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error(`no inspector at port ${port}`)));
  });
  const waiting = new Map<number, (result: { profile: Profile }) => void>();
  socket.addEventListener("message", (event) => {
    const { id, result } = JSON.parse(String(event.data));
    waiting.get(id)?.(result);
  });
  let lastId = 0;
  const send = (method: string, params = {}) =>
    new Promise<{ profile: Profile }>((resolve) => {
      const id = ++lastId;
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await send("Profiler.enable");
  await send("Profiler.setSamplingInterval", { interval: sampleEveryUs });
  await send("Profiler.start");
  return {
    stop: async () => {
      const { profile } = await send("Profiler.stop");
      socket.close();
      return profile;
    },
  };
}
