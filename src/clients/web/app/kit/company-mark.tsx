/** The logo of a company, or its first letter on its color. */
export function CompanyMark({ name, logoUrl, color }: { name: string; logoUrl: string | null; color: string | null }) {
  if (logoUrl) return <img class="company-mark" src={logoUrl} alt="" width="18" height="18" />
  return (
    <span class="company-mark" style={color ? { background: color } : {}} aria-hidden="true">
      {name.charAt(0).toUpperCase()}
    </span>
  )
}
