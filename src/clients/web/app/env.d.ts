declare module '*.svg' {
  /** What stands inside the icon's `<svg>`. */
  const inner: string
  export default inner
}
