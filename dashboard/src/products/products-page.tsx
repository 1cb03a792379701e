import { Button, Group, Modal, Select, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { showDone, useList } from "../api/queries.ts";
import { EmptyList } from "../shell/empty-list.tsx";
import { Icon } from "../shell/icons.tsx";
import { ListPages } from "../shell/list-pages.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { SearchField } from "../shell/search-field.tsx";
import { ProductForm } from "./product-form.tsx";
import { ProductRows } from "./product-rows.tsx";
import type { ProductsSearch } from "./search.ts";

const AT_ONCE = 25;

export function ProductsPage() {
  const { id: merchantId } = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/products" });
  const navigate = useNavigate({ from: "/console/$merchantId/products" });
  const mayCreate = useMay("product:create");
  const [isCreating, creating] = useDisclosure();
  const products = useList("listProducts", { merchantId, query: { ...search, limit: AT_ONCE } });
  return (
    <>
      <PageHeader
        title="Products"
        subtitle="What you sell. Each has a page to share, a code to scan and a button for your own site."
        actions={
          mayCreate && (
            <Button leftSection={<Icon name="plus" />} onClick={creating.open}>
              New product
            </Button>
          )
        }
      />
      <Stack>
        <Filters search={search} />
        <Read query={products}>
          {({ data, nextCursor }) => (
            <>
              {data.length === 0 ? (
                <NoProducts
                  isFiltered={Object.keys(search).length > 0}
                  mayCreate={mayCreate}
                  onCreate={creating.open}
                />
              ) : (
                <ProductRows products={data} isStale={products.isPlaceholderData} />
              )}
              <ListPages
                cursor={search.cursor}
                nextCursor={nextCursor}
                onGo={(cursor) => navigate({ search: { ...search, cursor } })}
              />
            </>
          )}
        </Read>
      </Stack>
      <NewProduct isOpen={isCreating} onClose={creating.close} />
    </>
  );
}

const STATES = [
  { value: "true", label: "For sale" },
  { value: "false", label: "Not for sale" },
];

function Filters({ search }: { readonly search: ProductsSearch }) {
  const navigate = useNavigate({ from: "/console/$merchantId/products" });
  // A change begins at the first page.
  const filter = (change: ProductsSearch) =>
    navigate({ search: (last: ProductsSearch) => ({ ...last, cursor: undefined, ...change }), replace: true });
  return (
    <Group gap="sm" role="search" aria-label="Filter the products">
      <SearchField
        name="Search products"
        hint="Beginning of the name, or id"
        asked={search.search}
        onSearch={(words) => filter({ search: words })}
      />
      <Select
        aria-label="State"
        placeholder="Any state"
        data={STATES}
        value={search.isActive === undefined ? null : String(search.isActive)}
        onChange={(value) => filter({ isActive: value === null ? undefined : value === "true" })}
        clearable
        clearButtonProps={{ "aria-label": "Any state" }}
        w={170}
      />
    </Group>
  );
}

interface NewProductProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function NewProduct({ isOpen, onClose }: NewProductProps) {
  const { id: merchantId } = useMerchant();
  const navigate = useNavigate();
  return (
    <Modal opened={isOpen} onClose={onClose} title="New product" size="lg">
      <ProductForm
        onSaved={({ id: productId }) => {
          showDone("The product was created. Share its page.");
          void navigate({ to: "/console/$merchantId/products/$productId", params: { merchantId, productId } });
        }}
      />
    </Modal>
  );
}

interface NoProductsProps {
  readonly isFiltered: boolean;
  readonly mayCreate: boolean;
  readonly onCreate: () => void;
}

function NoProducts({ isFiltered, mayCreate, onCreate }: NoProductsProps) {
  const navigate = useNavigate({ from: "/console/$merchantId/products" });
  if (!isFiltered) {
    return (
      <EmptyList
        title="No product yet"
        action={mayCreate && <Button onClick={onCreate}>Create the first product</Button>}
      >
        A product has a page of its own: share its link, and whoever opens it can buy. No website is needed.
      </EmptyList>
    );
  }
  return (
    <EmptyList
      title="No product matches"
      action={
        <Button variant="default" onClick={() => navigate({ search: {} })}>
          Show all products
        </Button>
      }
    >
      Search by the beginning of a name or by an exact id, or choose another state.
    </EmptyList>
  );
}
