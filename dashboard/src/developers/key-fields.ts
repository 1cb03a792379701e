// Shared by the forms of keys.

export const LONGEST_NAME = 200;

const MOST_ADDRESSES = 100;

export const ADDRESSES_FIELD = {
  label: "Allowed IP addresses",
  description: "Addresses or ranges such as 192.0.2.0/24; press Enter after each. Leave empty to allow any address.",
  maxTags: MOST_ADDRESSES,
  splitChars: [",", " ", ";"],
  acceptValueOnBlur: true,
};
