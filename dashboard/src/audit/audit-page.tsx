// Who changed what. Nothing here is ever changed or deleted.
import { Button, Card, Group, Select, Stack } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useList } from "../api/queries.ts";
import { DayInput } from "../shell/day-input.tsx";
import { EmptyList } from "../shell/empty-list.tsx";
import { ListPages } from "../shell/list-pages.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { useZoneName } from "../shell/reader.tsx";
import { useActors } from "./actors.ts";
import { endOfDay, startOfDay } from "./days.ts";
import { EntryRows } from "./entry-rows.tsx";
import { ExportButton } from "./export-button.tsx";
import type { AuditSearch } from "./search.ts";
import { ACTIONS, type KnownAction } from "./words.ts";

const AT_ONCE = 25;

export function AuditPage() {
  const { id: merchantId } = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/audit" });
  const navigate = useNavigate({ from: "/console/$merchantId/audit" });
  const { cursor, ...filters } = search;
  const query = useFilters(filters);
  const entries = useList("listAuditEvents", { merchantId, query: { ...query, cursor, limit: AT_ONCE } });
  const actors = useActors();
  const isFiltered = Object.keys(search).length > 0;
  return (
    <>
      <PageHeader
        title="Audit"
        subtitle="Who changed what, newest first. Nothing here is ever changed or deleted."
        actions={<ExportButton query={query} nameOf={actors.plainNameOf} />}
      />
      <Stack>
        <Filters search={search} actors={actors.options} />
        <Read query={entries}>
          {({ data, nextCursor }) => (
            <>
              {data.length === 0 ? (
                <EmptyList
                  title={isFiltered ? "No entry matches" : "Nothing has been changed yet"}
                  action={
                    isFiltered && (
                      <Button variant="default" onClick={() => navigate({ search: {} })}>
                        Show all entries
                      </Button>
                    )
                  }
                />
              ) : (
                <Card padding={0} style={{ opacity: entries.isPlaceholderData ? 0.6 : 1 }}>
                  <EntryRows entries={data} nameOf={actors.nameOf} />
                </Card>
              )}
              <ListPages
                cursor={cursor}
                nextCursor={nextCursor}
                onGo={(next) => navigate({ search: { ...filters, ...(next && { cursor: next }) } })}
              />
            </>
          )}
        </Read>
      </Stack>
    </>
  );
}

/** As the API takes them. */
function useFilters({ from, to, ...others }: Omit<AuditSearch, "cursor">) {
  const zone = useZoneName();
  return {
    ...others,
    ...(from === undefined ? {} : { from: startOfDay(from, zone).toISOString() }),
    ...(to === undefined ? {} : { to: endOfDay(to, zone).toISOString() }),
  };
}

/** Actions by what they are about. */
const ACTION_OPTIONS = Object.entries(
  Object.groupBy(Object.entries(ACTIONS), ([action]) => action.replace(/\..*/, "").replace("_", " ")),
).map(([group, members = []]) => ({ group, items: members.map(([value, label]) => ({ value, label })) }));

interface FiltersProps {
  readonly search: AuditSearch;
  readonly actors: ReturnType<typeof useActors>["options"];
}

function Filters({ search, actors }: FiltersProps) {
  const navigate = useNavigate({ from: "/console/$merchantId/audit" });
  // A change begins at the first page.
  const filter = (change: { readonly [K in keyof AuditSearch]: AuditSearch[K] | undefined }) =>
    navigate({
      search: (last: AuditSearch) => ({ ...last, cursor: undefined, ...change }) as AuditSearch,
      replace: true,
    });
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Filter the log">
      <Select
        label="Who"
        placeholder="Anybody"
        data={actors.map(({ group, items }) => ({ group, items: [...items] }))}
        value={search.actor ?? null}
        onChange={(actor) => filter({ actor: actor ?? undefined })}
        searchable
        clearable
        clearButtonProps={{ "aria-label": "Anybody" }}
        style={{ flex: "1 1 13rem" }}
      />
      <Select
        label="What"
        placeholder="Anything"
        data={ACTION_OPTIONS}
        value={search.action ?? null}
        onChange={(action) => filter({ action: (action as KnownAction | null) ?? undefined })}
        searchable
        clearable
        clearButtonProps={{ "aria-label": "Anything" }}
        style={{ flex: "1 1 13rem" }}
      />
      <DayInput
        label="From"
        max={search.to}
        value={search.from ?? ""}
        onChange={(from) => filter({ from: from === "" ? undefined : from })}
      />
      <DayInput
        label="To"
        min={search.from}
        value={search.to ?? ""}
        onChange={(to) => filter({ to: to === "" ? undefined : to })}
      />
    </Group>
  );
}
