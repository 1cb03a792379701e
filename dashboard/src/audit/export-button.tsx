import { Progress as Bar, Button, Group, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { call, type InputOf } from "../api/call.ts";
import type { AuditEvent } from "../api/operations.ts";
import { showDone, showError } from "../api/queries.ts";
import { save } from "../reports/download.ts";
import { useMerchant } from "../shell/merchants.ts";
import { useFormats } from "../shell/reader.tsx";
import { exportEntries, type Progress } from "./export-entries.ts";

interface Props {
  /** The chosen filters. */
  readonly query: InputOf<"listAuditEvents">["query"];
  readonly nameOf: (actor: AuditEvent["actor"]) => string;
}

export function ExportButton(props: Props) {
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
          {total === 0 ? "Reading…" : `${count(read)} of ${count(total)} entries`}
        </Text>
        <Bar value={total === 0 ? 0 : (100 * read) / total} aria-label="Export" />
      </Stack>
      <Button variant="default" onClick={stop}>
        Stop
      </Button>
    </Group>
  );
}

/** One export at a time; it ends with the page. `progress` is undefined while none is running. */
function useExport({ query, nameOf }: Props) {
  const { id: merchantId } = useMerchant();
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
      const file = await exportEntries({
        nameOf,
        read: (place) => call("listAuditEvents", { merchantId, query: { ...query, ...place } }, { signal }),
        wait: (ms) => pause(ms, signal),
        onProgress: (now) => {
          last = now.read;
          setProgress(now);
        },
      });
      save(file, `audit-${new Date().toISOString().slice(0, 10)}.csv`);
      showDone(last === 1 ? "1 entry was exported." : `${count(last)} entries were exported.`);
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
