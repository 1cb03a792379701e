import { Progress as Bar, Button, Group, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { showDone, showError } from "../api/queries.ts";
import { save } from "../reports/download.ts";
import { exportList, type Line, type Progress, type Source } from "./list-export.ts";
import { useFormats } from "./reader.tsx";

interface Props<Row> {
  readonly read: (place: Parameters<Source<Row>["read"]>[0], signal: AbortSignal) => ReturnType<Source<Row>["read"]>;
  readonly line: Line<Row>;
  /** How the file's name begins. */
  readonly fileName: string;
  /** Singular and plural of the rows' name: `["entry", "entries"]`. */
  readonly noun: readonly [one: string, many: string];
}

/** Exports every row that matches the filters, from all pages. */
export function ListExportButton<Row>(props: Props<Row>) {
  const { progress, start, stop } = useExport(props);
  const { count } = useFormats();
  if (progress === undefined) {
    return (
      <Button variant="default" onClick={start}>
        Export as CSV
      </Button>
    );
  }
  const { read, total } = progress;
  return (
    <Group gap="sm">
      <Stack gap={4} w={190}>
        <Text size="sm" role="status" className="numbers">
          {total === 0 ? "Reading…" : `${count(read)} of ${count(total)} ${props.noun[1]}`}
        </Text>
        <Bar value={total === 0 ? 0 : (100 * read) / total} aria-label="Export" />
      </Stack>
      <Button variant="default" onClick={stop}>
        Stop
      </Button>
    </Group>
  );
}

/** Runs one export at a time; it stops when the page is left. `progress` is undefined while none is running. */
function useExport<Row>({ read, line, fileName, noun: [one, many] }: Props<Row>) {
  const { count } = useFormats();
  const [progress, setProgress] = useState<Progress>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const run = async () => {
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    setProgress({ read: 0, total: 0 });
    let last = 0;
    try {
      const source: Source<Row> = {
        read: (place) => read(place, signal),
        wait: (ms) => pause(ms, signal),
        onProgress: (now) => {
          last = now.read;
          setProgress(now);
        },
      };
      save(await exportList(source, line), `${fileName}-${new Date().toISOString().slice(0, 10)}.csv`);
      showDone(last === 1 ? `1 ${one} was exported.` : `${count(last)} ${many} were exported.`);
    } catch (error) {
      if (!signal.aborted && error instanceof Error) showError(error);
    } finally {
      setProgress(undefined);
    }
  };
  return { progress, start: () => void run(), stop: () => running.current?.abort() };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
