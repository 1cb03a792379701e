// The few icons of the console: strokes on a grid of 24, in the colour of the text. They are decoration; names are beside them or on their buttons.

const PATHS = {
  account: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4.5 20.5c.8-3.6 3.8-5.5 7.5-5.5s6.7 1.9 7.5 5.5",
  check: "M5 12.5l4.5 4.5L19 7.5",
  chevron: "M8 10l4 4 4-4M8 10l4 4 4-4",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  invoices: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9.5 8h5M9.5 12h5",
  key: "M14.5 9.5a4 4 0 1 1-1.2-2.8M13 10l7 7M17 14l-2 2",
  moon: "M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z",
  next: "M9 5l7 7-7 7",
  offline: "M4 4l16 16M8.5 15.5a5 5 0 0 1 7 0M5.5 12a9.5 9.5 0 0 1 4-2.2M14.5 9.8a9.5 9.5 0 0 1 4 2.2M12 19h.01",
  phone: "M8 3h8v18H8zM11.5 18h1",
  plus: "M12 5v14M5 12h14",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M20 20l-4.8-4.8",
  shop: "M4 10V7l2-3h12l2 3v3M4 10a2.7 2.7 0 0 0 5.3 0 2.7 2.7 0 0 0 5.4 0A2.7 2.7 0 0 0 20 10M5.5 12.5V20h13v-7.5",
  signOut: "M14 4H5v16h9M10 12h10M17 8.5l3.5 3.5-3.5 3.5",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.7 1.7M17.3 17.3L19 19M19 5l-1.7 1.7M6.7 17.3L5 19",
  system: "M4 5h16v11H4zM9 20h6",
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
