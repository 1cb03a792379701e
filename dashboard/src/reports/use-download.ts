import { useEffect, useRef, useState } from "react";
import { showDone, showError } from "../api/queries.ts";
import { download, type Wanted } from "./download.ts";

/** Runs one export at a time. `records` is the number that has arrived; undefined while no export is running. */
export function useDownload() {
  const [records, setRecords] = useState<number>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = async (wanted: Wanted) => {
    const controller = new AbortController();
    running.current = controller;
    setRecords(0);
    try {
      await download(wanted, setRecords, controller.signal);
      showDone(`${wanted.fileName} is in your downloads.`);
    } catch (error) {
      if (!controller.signal.aborted && error instanceof Error) showError(error);
    } finally {
      setRecords(undefined);
    }
  };
  return { records, start: (wanted: Wanted) => void start(wanted), cancel: () => running.current?.abort() };
}
