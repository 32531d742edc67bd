/** The package whose page shows the OpenAPI document, and those of its files that we serve. */
const PACKAGE = 'swagger-ui-dist'
export const PACKAGE_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const
export type PackageFile = keyof typeof PACKAGE_FILES

export const packagePath = (file: string): string => `${PACKAGE}/${file}`

/** For a deploy, which copies them beside the function. */
export const REFERENCE_FILES = Object.keys(PACKAGE_FILES).map(packagePath)

/**
 * Scripts come from our origin alone, and none stands in the page. The pictures in the style
 * sheet are data; React sets styles by script, which no policy minds.
 */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Addresses are relative to `/docs`, so that the page works below any stage's path. */
export const REFERENCE_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Espalier: the HTTP API</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<main id="reference"><noscript>This page needs scripts; <a href="api/v1/openapi.json">the document</a> itself doesn’t.</noscript></main>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`

/** Nothing is sent to a validator, and a key that is typed in is forgotten with the page. */
export const REFERENCE_SCRIPT = `SwaggerUIBundle({
  url: 'api/v1/openapi.json',
  domNode: document.getElementById('reference'),
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
})
`
