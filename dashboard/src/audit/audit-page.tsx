// The audit log: who changed what. Entries are never changed or deleted.
import { Card, Group, Select } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { useList } from "../api/queries.ts";
import { DayRange } from "../shell/day-range.tsx";
import { EmptyList } from "../shell/empty-list.tsx";
import { ListExportButton } from "../shell/list-export-button.tsx";
import { type Address, addressOf, ListPage } from "../shell/list-page.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { useZoneName } from "../shell/reader.tsx";
import { useActors } from "./actors.ts";
import { endOfDay, startOfDay } from "./days.ts";
import { entryLine } from "./entry-line.ts";
import { EntryRows } from "./entry-rows.tsx";
import type { AuditSearch } from "./search.ts";
import { ACTIONS, isKnownAction } from "./words.ts";

const AT_ONCE = 25;

type AuditAddress = Address<AuditSearch>;

export function AuditPage() {
  const { id: merchantId } = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/audit" });
  const address: AuditAddress = addressOf(search, useNavigate({ from: "/console/$merchantId/audit" }));
  const { cursor, ...filters } = search;
  const query = useFilters(filters);
  const entries = useList("listAuditEvents", { merchantId, query: { ...query, cursor, limit: AT_ONCE } });
  const actors = useActors();
  return (
    <ListPage
      title="Audit"
      subtitle="Who changed what, newest first. Entries cannot be changed or deleted."
      actions={
        <ListExportButton
          read={(place, signal) => call("listAuditEvents", { merchantId, query: { ...query, ...place } }, { signal })}
          line={entryLine(actors.plainNameOf)}
          fileName="audit"
          noun={["entry", "entries"]}
        />
      }
      filters={<Filters address={address} actors={actors.options} />}
      query={entries}
      address={address}
      none={<EmptyList title="No changes yet" />}
      unmatched={{ title: "No matching entries", all: "Show all entries" }}
    >
      {(rows, isStale) => (
        <Card padding={0} style={{ opacity: isStale ? 0.6 : 1 }}>
          <EntryRows entries={rows} nameOf={actors.nameOf} names={actors.names} />
        </Card>
      )}
    </ListPage>
  );
}

/** The filters as the API expects them. */
function useFilters({ from, to, ...others }: Omit<AuditSearch, "cursor">) {
  const zone = useZoneName();
  return {
    ...others,
    ...(from === undefined ? {} : { from: startOfDay(from, zone).toISOString() }),
    ...(to === undefined ? {} : { to: endOfDay(to, zone).toISOString() }),
  };
}

/** Actions by subject. */
const ACTION_OPTIONS = Object.entries(
  Object.groupBy(Object.entries(ACTIONS), ([action]) => action.replace(/\..*/, "").replace("_", " ")),
).map(([group, members = []]) => ({ group, items: members.map(([value, label]) => ({ value, label })) }));

interface FiltersProps {
  readonly address: AuditAddress;
  readonly actors: ReturnType<typeof useActors>["options"];
}

function Filters({ address: { search, filter }, actors }: FiltersProps) {
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Filter the audit log">
      <Select
        label="Who"
        placeholder="Anyone"
        data={actors.map(({ group, items }) => ({ group, items: [...items] }))}
        value={search.actor ?? null}
        onChange={(actor) => filter({ actor: actor ?? undefined })}
        searchable
        clearable
        clearButtonProps={{ "aria-label": "Anyone" }}
        style={{ flex: "1 1 13rem" }}
      />
      <Select
        label="What"
        placeholder="Anything"
        data={ACTION_OPTIONS}
        value={search.action ?? null}
        onChange={(action) => filter({ action: isKnownAction(action) ? action : undefined })}
        searchable
        clearable
        clearButtonProps={{ "aria-label": "Anything" }}
        style={{ flex: "1 1 13rem" }}
      />
      <DayRange label="When" from={search.from} to={search.to} onChange={({ from, to }) => filter({ from, to })} />
    </Group>
  );
}
