// Code that the forms for keys share.

export const LONGEST_NAME = 200;

const MOST_ADDRESSES = 100;

export const ADDRESSES_FIELD = {
  label: "Allowed IP addresses",
  description:
    "Enter addresses or ranges, such as 192.0.2.0/24, and press Enter after each. Leave empty to allow any address.",
  maxTags: MOST_ADDRESSES,
  splitChars: [",", " ", ";"],
  acceptValueOnBlur: true,
};
