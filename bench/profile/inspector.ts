// The parts of the runtime's inspector that a profile and a soak need (Chrome DevTools Protocol over a WebSocket).
import { PROFILE, type Profile } from "./self-times.ts";

interface Inspector {
  send(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>;
  close(): void;
}

/** `onEvent`: receives the runtime's unsolicited messages. */
export async function openInspector(
  url: string,
  onEvent: (method: string, params: Readonly<Record<string, unknown>>) => void = () => {},
): Promise<Inspector> {
  // The inspector of `wrangler dev` requires an origin.
  const socket: WebSocket = Reflect.construct(WebSocket, [url, { headers: { origin: "http://localhost" } }]);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error(`no inspector at ${url}`)));
  });
  const waiting = new Map<number, (result: Readonly<Record<string, unknown>>) => void>();
  socket.addEventListener("message", (event) => {
    const { id, result, method, params } = JSON.parse(String(event.data));
    if (id === undefined) onEvent(method, params);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let lastId = 0;
  return {
    send: (method, params = {}) =>
      new Promise((resolve) => {
        const id = ++lastId;
        waiting.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params }));
      }),
    close: () => socket.close(),
  };
}

interface Profiler {
  stop(): Promise<Profile>;
}

/** Starts sampling the worker's isolate: the edge and its objects, which share it. */
export async function startProfiler(port: number, workerName: string, sampleEveryUs: number): Promise<Profiler> {
  const inspector = await openInspector(`ws://127.0.0.1:${port}/core:user:${workerName}`);
  await inspector.send("Profiler.enable");
  await inspector.send("Profiler.setSamplingInterval", { interval: sampleEveryUs });
  await inspector.send("Profiler.start");
  return {
    stop: async () => {
      const { profile } = await inspector.send("Profiler.stop");
      inspector.close();
      return PROFILE.parse(profile);
    },
  };
}
