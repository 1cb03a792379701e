// The heap of the Worker's isolate, from its workerd's inspector.
import { createWriteStream } from "node:fs";
import { openInspector } from "../profile/inspector.ts";
import { listeningPorts } from "./processes.ts";

export interface Heap {
  readonly usedBytes: number;
  readonly totalBytes: number;
  /** Buffers outside V8's heap. */
  readonly backingBytes: number;
}

/** The address of the inspector that `wrangler dev` offers; it holds the runtime's only session. */
export async function inspectorOf(pid: number): Promise<string | undefined> {
  for (const port of listeningPorts(pid)) {
    // Its other ports answer something else, or never.
    const targets = await fetch(`http://127.0.0.1:${port}/json`, { signal: AbortSignal.timeout(2_000) })
      .then((response) => response.json())
      .catch(() => undefined);
    const [target] = Array.isArray(targets) ? targets : [];
    if (target?.description === "workers") return String(target.webSocketDebuggerUrl);
  }
  return undefined;
}

/** Shared by the edge and the objects. `collects`: whether V8 collects garbage first. */
export async function heapOf(url: string, collects: boolean): Promise<Heap> {
  const inspector = await openInspector(url);
  try {
    if (collects) await inspector.send("HeapProfiler.collectGarbage");
    const usage = await inspector.send("Runtime.getHeapUsage");
    return {
      usedBytes: Number(usage.usedSize),
      totalBytes: Number(usage.totalSize),
      backingBytes: Number(usage.backingStorageSize ?? 0),
    };
  } finally {
    inspector.close();
  }
}

/** In Chromium's developer tools' format. */
export async function writeHeapSnapshot(url: string, path: string): Promise<void> {
  const file = createWriteStream(path);
  const inspector = await openInspector(url, (method, { chunk }) => {
    if (method === "HeapProfiler.addHeapSnapshotChunk") file.write(String(chunk));
  });
  try {
    await inspector.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  } finally {
    inspector.close();
    await new Promise((resolve) => file.end(resolve));
  }
}
