import { Button, Group, Modal, Select } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { showDone, useList } from "../api/queries.ts";
import { EmptyList } from "../shell/empty-list.tsx";
import { type Address, addressOf, ListPage, NewButton } from "../shell/list-page.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { SearchField } from "../shell/search-field.tsx";
import { ProductForm } from "./product-form.tsx";
import { ProductRows } from "./product-rows.tsx";
import type { ProductsSearch } from "./search.ts";

const AT_ONCE = 25;

type ProductsAddress = Address<ProductsSearch>;

export function ProductsPage() {
  const { id: merchantId } = useMerchant();
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/products" });
  const address: ProductsAddress = addressOf(search, useNavigate({ from: "/console/$merchantId/products" }));
  const mayCreate = useMay("product:create");
  const [isCreating, creating] = useDisclosure();
  const products = useList("listProducts", { merchantId, query: { ...search, limit: AT_ONCE } });
  return (
    <>
      <ListPage
        title="Products"
        subtitle="What you sell. Each product has a page to share, a QR code and a button for your own site."
        actions={mayCreate && <NewButton onClick={creating.open}>New product</NewButton>}
        filters={<Filters address={address} />}
        query={products}
        address={address}
        none={
          <EmptyList
            title="No products yet"
            action={mayCreate && <Button onClick={creating.open}>Create your first product</Button>}
          >
            Every product has its own page: share the link, and anyone who opens it can buy. You need no website.
          </EmptyList>
        }
        unmatched={{
          title: "No matching products",
          all: "Show all products",
          about: "Search by the start of a name or an exact ID, or choose another status.",
        }}
      >
        {(rows, isStale) => <ProductRows products={rows} isStale={isStale} />}
      </ListPage>
      <NewProduct isOpen={isCreating} onClose={creating.close} />
    </>
  );
}

const STATES = [
  { value: "true", label: "For sale" },
  { value: "false", label: "Not for sale" },
];

function Filters({ address: { search, filter } }: { readonly address: ProductsAddress }) {
  return (
    <Group gap="sm" role="search" aria-label="Filter products">
      <SearchField
        name="Search products"
        hint="Start of a name, or an ID"
        asked={search.search}
        onSearch={(words) => filter({ search: words })}
      />
      <Select
        aria-label="Status"
        placeholder="Any status"
        data={STATES}
        value={search.isActive === undefined ? null : String(search.isActive)}
        onChange={(value) => filter({ isActive: value === null ? undefined : value === "true" })}
        clearable
        clearButtonProps={{ "aria-label": "Any status" }}
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
          showDone("Product created. Share its page.");
          void navigate({ to: "/console/$merchantId/products/$productId", params: { merchantId, productId } });
        }}
      />
    </Modal>
  );
}
