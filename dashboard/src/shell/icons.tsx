// The console's few icons: strokes in a 24-unit square, in the colour of the text. They are decorative; their names are next to them or on their
// buttons.

const PATHS = {
  account: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4.5 20.5c.8-3.6 3.8-5.5 7.5-5.5s6.7 1.9 7.5 5.5",
  audit: "M6 3h9l4 4v14H6zM9.5 11h6M9.5 15h6M9.5 7h2",
  check: "M5 12.5l4.5 4.5L19 7.5",
  chevron: "M8 10l4 4 4-4M8 10l4 4 4-4",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  customers:
    "M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M2.5 19.5c.7-3.2 3.2-5 6.5-5s5.8 1.8 6.5 5M15.5 4.7a3.5 3.5 0 0 1 0 6.6M17.5 14.8c2.1.7 3.5 2.3 4 4.7",
  developers: "M8.5 7L3.5 12l5 5M15.5 7l5 5-5 5M13.5 5l-3 14",
  edit: "M4 20l1-4L16 5l3 3L8 19zM13.5 7.5l3 3",
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  invoices: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9.5 8h5M9.5 12h5",
  key: "M14.5 9.5a4 4 0 1 1-1.2-2.8M13 10l7 7M17 14l-2 2",
  more: "M12 5.5v1M12 11.5v1M12 17.5v1",
  moon: "M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z",
  next: "M9 5l7 7-7 7",
  offline: "M4 4l16 16M8.5 15.5a5 5 0 0 1 7 0M5.5 12a9.5 9.5 0 0 1 4-2.2M14.5 9.8a9.5 9.5 0 0 1 4 2.2M12 19h.01",
  operator: "M4 4h16v6H4zM4 14h16v6H4zM7.5 7h.01M7.5 17h.01M11 7h5M11 17h5",
  phone: "M8 3h8v18H8zM11.5 18h1",
  plus: "M12 5v14M5 12h14",
  out: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  reports: "M5 20V11M12 20V4M19 20v-6M3 20h18",
  product: "M4 4h8l8 8-8 8-8-8zM8 8h.01",
  review: "M4 5h16v14H4zM4 10h16M10 14.5h4M16.5 14.5h.01",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M20 20l-4.8-4.8",
  settings:
    "M4 7h10M18 7h2M4 17h2M10 17h10M16 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M8 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5",
  shop: "M4 10V7l2-3h12l2 3v3M4 10a2.7 2.7 0 0 0 5.3 0 2.7 2.7 0 0 0 5.4 0A2.7 2.7 0 0 0 20 10M5.5 12.5V20h13v-7.5",
  signOut: "M14 4H5v16h9M10 12h10M17 8.5l3.5 3.5-3.5 3.5",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.7 1.7M17.3 17.3L19 19M19 5l-1.7 1.7M6.7 17.3L5 19",
  system: "M4 5h16v11H4zM9 20h6",
  wallet: "M4 7v11a2 2 0 0 0 2 2h14V9H6a2 2 0 0 1 0-4h12v4M16.5 14.5h.01",
  team: "M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M2.5 19.5c.6-3.2 3.2-4.8 6.5-4.8s5.9 1.6 6.5 4.8M15.5 4.8a3.5 3.5 0 0 1 0 6.5M17.5 15c2.2.5 3.6 2 4 4.5",
  welcome: "M12 3l2.4 5.6 6.1.5-4.6 4 1.4 6L12 15.9 6.7 19.1l1.4-6-4.6-4 6.1-.5z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
