// The heap of the Worker's isolate, read through the inspector of its workerd.
import { createWriteStream } from "node:fs";
import { openInspector } from "../profile/inspector.ts";
import { listeningPorts } from "./processes.ts";

export interface Heap {
  readonly usedBytes: number;
  readonly totalBytes: number;
  /** Buffers outside V8's heap. */
  readonly backingBytes: number;
}

/** The address of the inspector that `wrangler dev` offers. The runtime allows one session, which `wrangler dev` already has. */
export async function inspectorOf(pid: number): Promise<string | undefined> {
  for (const port of listeningPorts(pid)) {
    // The process's other ports answer something else, or never answer.
    const targets = await fetch(`http://127.0.0.1:${port}/json`, { signal: AbortSignal.timeout(2_000) })
      .then((response) => response.json())
      .catch(() => undefined);
    const [target] = Array.isArray(targets) ? targets : [];
    if (target?.description === "workers") return String(target.webSocketDebuggerUrl);
  }
  return undefined;
}

/** The heap that the edge and the objects share. `collects`: whether V8 collects garbage first. */
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

/** Writes a heap snapshot that Chromium's developer tools can open. */
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
