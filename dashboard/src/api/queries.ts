// Reads and changes of the API for components, over TanStack Query. A change marks everything that was read as stale: what a change touches
// (an invoice, its list, the totals) is the service's business.
import { notifications } from "@mantine/notifications";
import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { type AnswerOf, call, type InputOf, type OperationId } from "./call.ts";
import { connection } from "./connection.ts";
import { ApiError, ConnectionError, isPassing, StepUpCancelled } from "./errors.ts";

const STALE_AFTER_MS = 15_000;
const TRIES = 4;
const LONGEST_PAUSE_MS = 10_000;

/** `signedOut` is called when the session has ended, or lacks its second factor. */
export function createQueryClient(signedOut: () => void): QueryClient {
  const check = (error: Error) => {
    if (error instanceof ApiError && isSignedOut(error)) signedOut();
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: check }),
    mutationCache: new MutationCache({
      onError: (error, _input, _context, mutation) => {
        check(error);
        if (mutation.meta?.isShownInPlace !== true) showError(error);
      },
      // A read that was refused stays refused: reading it anew would take away the form that is open in its place.
      onSuccess: () => client.invalidateQueries({ predicate: ({ state }) => state.data !== undefined }),
    }),
    defaultOptions: {
      queries: { staleTime: STALE_AFTER_MS, retry: mayRetry, retryDelay, throwOnError: false },
      mutations: { retryDelay },
    },
  });
  // What could not be read while the service was away is read once it is back.
  connection.subscribe(() => {
    if (!connection.isLost()) void client.invalidateQueries();
  });
  return client;
}

export function isSignedOut({ code }: ApiError): boolean {
  return code === "UNAUTHORIZED" || code === "SECOND_FACTOR_REQUIRED";
}

/** A lost connection is waited for; other failures that may pass are tried a few times. */
function mayRetry(failures: number, error: Error): boolean {
  return error instanceof ConnectionError || (isPassing(error) && failures < TRIES);
}

function retryDelay(failures: number): number {
  return Math.min(1_000 * 2 ** failures, LONGEST_PAUSE_MS);
}

/** Shows why a change failed, unless the user gave it up. */
export function showError(error: Error): void {
  if (error instanceof StepUpCancelled) return;
  const id = error instanceof ApiError && error.requestId !== undefined ? ` (${error.requestId})` : "";
  notifications.show({ color: "red", title: "That did not work", message: `${error.message}${id}`, autoClose: 10_000 });
}

export function showDone(message: ReactNode): void {
  notifications.show({ color: "green", message, autoClose: typeof message === "string" ? 4_000 : 12_000 });
}

export function reading<K extends OperationId>(operation: K, input: InputOf<K>) {
  return queryOptions({
    queryKey: [operation, input] as const,
    queryFn: ({ signal }) => call(operation, input, { signal }),
  });
}

/** How long until what was read is read again while it is shown; false where live updates are enough. */
type ReadAgain<K extends OperationId> = (read: AnswerOf<K> | undefined) => number | false;

/** While the next page or filter is read, the rows of the last one stay. */
export function useList<K extends OperationId>(operation: K, input: InputOf<K>, readAgain?: ReadAgain<K>) {
  return useQuery({
    ...reading(operation, input),
    placeholderData: keepPreviousData,
    refetchInterval: readAgain === undefined ? false : ({ state }) => readAgain(state.data),
  });
}

interface Page<Row> {
  readonly data: readonly Row[];
  readonly nextCursor: string | null;
}

/** The rows of a list so far: a further page is read when it is asked for. `key` names the operation and its input. */
export function useGrowingList<Row>(
  key: readonly unknown[],
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Row>>,
) {
  return useInfiniteQuery<Page<Row>, Error, readonly Row[], readonly unknown[], string | undefined>({
    queryKey: [...key, "all"],
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  });
}

interface ChangeOptions<K extends OperationId> {
  readonly onSuccess?: (answer: AnswerOf<K>) => void;
  /** Leaves the page of what the change has deleted: it would be read again, and not be found. */
  readonly leave?: () => Promise<void>;
  /** Where the component itself shows the error: at fields, or beside the form. */
  readonly isShownInPlace?: boolean;
  /** False where a repeated call is refused: codes work once. */
  readonly isRepeatable?: boolean;
}

/**
 * A change, sent again with the same Idempotency-Key while its failure may pass. The key belongs to the intent: sending the same input again
 * after a failure uses the same key, and other input or a success ends it.
 */
export function useChange<K extends OperationId>(operation: K, options: ChangeOptions<K> = {}) {
  const { onSuccess, leave, isShownInPlace = false, isRepeatable = true } = options;
  const client = useQueryClient();
  const intent = useRef<Intent | undefined>(undefined);
  return useMutation({
    mutationFn: async (input: InputOf<K>) => {
      intent.current = intentOf(intent.current, JSON.stringify(input));
      const answer = await call(operation, input, { idempotencyKey: intent.current.key });
      // A list that was read before would show for a moment what is deleted.
      if (operation.startsWith("delete")) client.removeQueries({ type: "inactive" });
      await leave?.();
      return answer;
    },
    meta: { isShownInPlace },
    retry: (failures, error) => isRepeatable && isPassing(error) && failures < TRIES,
    onSuccess: (answer) => {
      intent.current = undefined;
      onSuccess?.(answer);
    },
  });
}

interface Intent {
  readonly text: string;
  readonly key: string;
}

function intentOf(last: Intent | undefined, text: string): Intent {
  return last?.text === text ? last : { text, key: crypto.randomUUID() };
}
