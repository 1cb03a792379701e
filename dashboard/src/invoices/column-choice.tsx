import { Button, Menu } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Icon } from "../shell/icons.tsx";
import { COLUMN_IDS, type ColumnId, columnsOf, FIRST_COLUMNS } from "./columns.tsx";

export function useColumns() {
  const [chosen, choose] = useLocalStorage<readonly ColumnId[]>({
    key: "edgetill-invoice-columns",
    defaultValue: FIRST_COLUMNS,
    getInitialValueInEffect: false,
  });
  // In the order of the columns, and without columns that no longer exist.
  return [COLUMN_IDS.filter((id) => chosen.includes(id)), choose] as const;
}

export function ColumnChoice() {
  const [chosen, choose] = useColumns();
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <Button variant="default" visibleFrom="sm" rightSection={<Icon name="chevron" size={14} />}>
          Columns
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {COLUMN_IDS.map((id) => {
          const isShown = chosen.includes(id);
          return (
            <Menu.Item
              key={id}
              role="menuitemcheckbox"
              aria-checked={isShown}
              leftSection={<span style={{ visibility: isShown ? "visible" : "hidden" }}>✓</span>}
              onClick={() => choose(isShown ? chosen.filter((each) => each !== id) : [...chosen, id])}
            >
              {columnsOf[id].name}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}
