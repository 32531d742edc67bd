/// <reference path="./.sst/platform/config.d.ts" />

// Everything that a deployment consists of. What runs, which route it answers and what it may
// touch stands in `functions/routes.ts`; how that becomes names, variables and permissions, in
// `lib/deploy/`, where it is tested; `infra/` makes what is here by itself. SST allows no import at the
// top of this file.

type Route = import('./lib/http/route-table.ts').Route
type RouteTable = import('./lib/http/route-table.ts').RouteTable
type FunctionSpec = import('./lib/http/route-table.ts').FunctionSpec
type Variable = import('./lib/deploy/environment.ts').Variable
type Text = $util.Input<string>
type Stores = import('./infra/stores.ts').Stores
type Domain = import('./lib/deploy/domain.ts').Domain

export default $config({
  app: async ({ stage }) => {
    const { stageOf } = await import('./lib/deploy/stage.ts')
    const { tagsOf } = await import('./lib/deploy/tags.ts')
    const { isProduction } = stageOf({ stage })
    const name = 'espalier'
    return {
      name,
      home: 'aws',
      removal: isProduction ? 'retain' : 'remove',
      protect: isProduction,
      providers: { aws: { defaultTags: { tags: tagsOf({ name, stage }, process.env) } } },
    }
  },

  async run() {
    const { routeTable } = await import('./functions/routes.ts')
    const { makeAlarms } = await import('./infra/alarms.ts')
    const { makeDeadLetters } = await import('./infra/dead-letters.ts')
    const { makeStores } = await import('./infra/stores.ts')
    const names = await import('./lib/deploy/names.ts')
    const { optionsOf } = await import('./lib/deploy/options.ts')
    const router = await import('./lib/deploy/router.ts')
    const { KEYRING_SECRETS } = await import('./lib/deploy/secrets.ts')
    const table = await routeTable()
    const { functions: specs, routes, schedules } = table
    const prefix = names.prefixOf($app)
    await refuseWrong(table, prefix)
    const code = await bundler()
    const quota = await concurrencyQuota()
    const { domain, alarms, ticks, notices } = optionsOf($app, quota)

    const { gateway, streams } = router.splitRoutes({ functions: specs, routes })
    const api = await makeApi()
    const linkKeys = new sst.Secret(KEYRING_SECRETS.ESPALIER_LINK_KEYS).value
    const front = await makeRouter(streams, { linkKeys, domain })
    front.route('/', api.url, { readTimeout: `${router.API_READ_TIMEOUT_SECONDS} seconds` })
    const stores = makeStores(front.url)
    const deadLetters = makeDeadLetters()
    const makeFunction = await functionMaker(prefix, stores, {
      front,
      linkKeys,
      deadLetters,
      ticks,
      code,
    })
    const functions = new Map(specs.map(spec => [spec.name, makeFunction(spec)]))
    const arnOf = (name: string) => functions.get(name)?.arn ?? names.noFunction(name)

    await makeRoutes(api, gateway, arnOf)
    for (const { name, rateMinutes, functionName } of schedules)
      new sst.aws.CronV2(names.scheduleComponent({ name }), {
        function: arnOf(functionName),
        schedule: rateMinutes === 1 ? 'rate(1 minute)' : `rate(${rateMinutes} minutes)`,
        // The next one comes soon and does the same; that this one didn't is worth a letter.
        retries: 0,
        dlq: deadLetters.arn,
      })
    const stateMachine = await makeStateMachine(prefix, {
      tick: arnOf('tick'),
      park: arnOf('park'),
    })
    const watched = { prefix, functions, deadLetters, api, stateMachine, quota, data: stores.data }
    const topic = alarms.on ? makeAlarms(watched, alarms) : undefined
    const { gatewayReport } = await import('./lib/deploy/group-routes.ts')
    return {
      api: front.url,
      // A rotation of keys, a restore and a removal ask for both by name.
      table: stores.data.name,
      bucket: stores.objects.name,
      deadLetters: deadLetters.url,
      ...(topic ? { alarms: topic.arn } : {}),
      // Where the domain's DNS is elsewhere, its CNAME leads here.
      ...(domain?.certificate ? { cname: front.nodes.cdn.nodes.distribution.domainName } : {}),
      gateway: gatewayReport(table),
      ...notices,
    }
  },
})

/** How many functions the account may run at once here; undefined where that can't be read. */
const concurrencyQuota = async (): Promise<number | undefined> => {
  const { CONCURRENCY_QUOTA } = await import('./lib/deploy/concurrency.ts')
  return aws.servicequotas.getServiceQuota(CONCURRENCY_QUOTA).then(
    ({ value }) => value,
    () => undefined,
  )
}

/** Says all that would fail later, before anything is made. */
const refuseWrong = async (table: RouteTable, prefix: string) => {
  const { existsSync } = await import('node:fs')
  const { checkEnvironment } = await import('./lib/deploy/check-environment.ts')
  const { checkSecrets } = await import('./lib/deploy/check-secrets.ts')
  const { checkTable } = await import('./lib/deploy/check-table.ts')
  const { checkNames } = await import('./lib/deploy/names.ts')
  // Where `sst.Secret` finds them too.
  const secret = (name: string) => process.env[`SST_SECRET_${name}`] ?? ''
  checkNames(table, prefix)
  checkTable(table, existsSync)
  checkEnvironment($app)
  checkSecrets(
    {
      SettingsKeys: secret('SettingsKeys'),
      LinkKeys: secret('LinkKeys'),
      ClaimSecret: secret('ClaimSecret'),
    },
    $app.stage,
  )
}

const makeApi = async () => {
  const { ACCESS_LOG_FORMAT } = await import('./lib/deploy/access-log.ts')
  const { ROUTE_REQUESTS_AT_ONCE, ROUTE_REQUESTS_PER_SECOND, stageOf } = await import(
    './lib/deploy/stage.ts'
  )
  return new sst.aws.ApiGatewayV2('Api', {
    cors: false,
    accessLog: { retention: stageOf($app).logRetention },
    transform: {
      stage: args => {
        args.accessLogSettings = $output(args.accessLogSettings).apply(settings => ({
          destinationArn: settings?.destinationArn ?? '',
          format: ACCESS_LOG_FORMAT,
        }))
        args.defaultRouteSettings = {
          throttlingRateLimit: ROUTE_REQUESTS_PER_SECOND,
          throttlingBurstLimit: ROUTE_REQUESTS_AT_ONCE,
        }
      },
    },
  })
}

/**
 * The gateway's routes. SST would make an integration for each of them, and a gateway takes 300,
 * whatever is asked of AWS: here the routes of a function share one.
 */
const makeRoutes = async (
  api: sst.aws.ApiGatewayV2,
  routes: Route[],
  arnOf: (functionName: string) => Text,
) => {
  const { functionComponent, routeComponent } = await import('./lib/deploy/names.ts')
  const { id: apiId, executionArn } = api.nodes.api
  const integrations = new Map(
    [...new Set(routes.map(({ functionName }) => functionName))].map(name => {
      const component = functionComponent({ name })
      const permission = new aws.lambda.Permission(`${component}Permission`, {
        action: 'lambda:InvokeFunction',
        function: arnOf(name),
        principal: 'apigateway.amazonaws.com',
        sourceArn: $interpolate`${executionArn}/*`,
      })
      const integration = new aws.apigatewayv2.Integration(
        `${component}Integration`,
        {
          apiId,
          integrationType: 'AWS_PROXY',
          integrationUri: arnOf(name),
          payloadFormatVersion: '2.0',
        },
        { dependsOn: [permission] },
      )
      return [name, integration.id] as const
    }),
  )
  for (const { method, path, functionName } of routes)
    new aws.apigatewayv2.Route(`${routeComponent({ method, path })}Route`, {
      apiId,
      routeKey: `${method} ${path}`,
      target: $interpolate`integrations/${integrations.get(functionName) ?? ''}`,
    })
}

/** Where people come in: nothing is kept on the way, and what streams is reached through it alone. */
const makeRouter = async (
  streams: Route[],
  { linkKeys, domain }: { linkKeys: $util.Output<string>; domain: Domain | undefined },
) => {
  const { routerDomainOf } = await import('./lib/deploy/domain.ts')
  const { NO_CACHE_POLICY, routerSecretOf, UNCACHED_ERRORS, viewerRequestCode } = await import(
    './lib/deploy/router.ts'
  )
  const injection = linkKeys.apply(keys => viewerRequestCode(streams, routerSecretOf(keys)))
  // Its code holds what the Router proves itself with, and SST doesn't take it for a secret.
  $transform(aws.cloudfront.Function, args => {
    args.code = $util.secret(args.code)
  })
  return new sst.aws.Router('Router', {
    protection: 'oac',
    ...(domain ? { domain: routerDomainOf(domain) } : {}),
    edge: { viewerRequest: { injection } },
    transform: {
      cdn: args => {
        args.defaultCacheBehavior = $output(args.defaultCacheBehavior).apply(behavior => ({
          ...behavior,
          cachePolicyId: NO_CACHE_POLICY,
        }))
        args.customErrorResponses = UNCACHED_ERRORS.map(errorCode => ({
          errorCode,
          errorCachingMinTtl: 0,
        }))
      },
    },
  })
}

/** Makes functions one by one: each is told of, and allowed, what its reach says and no more. */
const functionMaker = async (
  prefix: string,
  { data, objects }: Stores,
  {
    front,
    linkKeys,
    deadLetters,
    ticks,
    code,
  }: {
    front: sst.aws.Router
    linkKeys: $util.Output<string>
    deadLetters: sst.aws.Queue
    /** How many ticks run at once at most, where that is limited. */
    ticks: number | undefined
    code: Awaited<ReturnType<typeof bundler>>
  },
) => {
  const { eventRulesOf } = await import('./lib/deploy/dead-letters.ts')
  const { variablesOf } = await import('./lib/deploy/environment.ts')
  const { functionComponent, functionName } = await import('./lib/deploy/names.ts')
  const { permissionsOf } = await import('./lib/deploy/permissions.ts')
  const router = await import('./lib/deploy/router.ts')
  const { KEYRING_SECRETS, PROVIDER_SECRETS, SIGN_IN_SECRETS, TRACE_HEADERS_SECRET } = await import(
    './lib/deploy/secrets.ts'
  )
  const { stageOf } = await import('./lib/deploy/stage.ts')
  const { logRetention } = stageOf($app)
  const { partition } = aws.getPartitionOutput()
  const { region } = aws.getRegionOutput()
  const { accountId } = aws.getCallerIdentityOutput()
  const arn = (service: string, resource: string) =>
    $interpolate`arn:${partition}:${service}:${region}:${accountId}:${resource}`
  // Made up from its parts: functions are told of the machine, and the machine names functions.
  const stateMachine = arn('states', `stateMachine:${stateMachineName(prefix)}`)
  const emailSender = process.env.ESPALIER_EMAIL_SENDER ?? ''
  const values: Record<Variable, Text> = {
    ESPALIER_TABLE: data.name,
    ESPALIER_BUCKET: objects.name,
    ESPALIER_STATE_MACHINE_ARN: stateMachine,
    ESPALIER_FUNCTION_PREFIX: prefix,
    ESPALIER_SETTINGS_KEYS: new sst.Secret(KEYRING_SECRETS.ESPALIER_SETTINGS_KEYS).value,
    ESPALIER_LINK_KEYS: linkKeys,
    ESPALIER_PUBLIC_URL: front.url,
    ESPALIER_FETCH_ALLOW: process.env.ESPALIER_FETCH_ALLOW ?? '',
    ESPALIER_OIDC_ISSUER: process.env.ESPALIER_OIDC_ISSUER ?? '',
    ESPALIER_OIDC_CLIENT_ID: process.env.ESPALIER_OIDC_CLIENT_ID ?? '',
    ESPALIER_OIDC_CLIENT_SECRET: new sst.Secret(SIGN_IN_SECRETS.ESPALIER_OIDC_CLIENT_SECRET, '')
      .value,
    ESPALIER_OIDC_SCOPE: process.env.ESPALIER_OIDC_SCOPE ?? '',
    ESPALIER_OIDC_ALLOW: process.env.ESPALIER_OIDC_ALLOW ?? '',
    ESPALIER_CLAIM_SECRET: new sst.Secret(SIGN_IN_SECRETS.ESPALIER_CLAIM_SECRET, '').value,
    ESPALIER_EMAIL_SENDER: emailSender,
    ESPALIER_RATE_LIMITS: process.env.ESPALIER_RATE_LIMITS ?? '',
    ESPALIER_ROUTER_SECRET: linkKeys.apply(router.routerSecretOf),
    ESPALIER_LOG_LEVEL: process.env.ESPALIER_LOG_LEVEL ?? '',
    OTEL_EXPORTER_OTLP_ENDPOINT: process.env.OTEL_EXPORTER_OTLP_ENDPOINT ?? '',
    OTEL_EXPORTER_OTLP_HEADERS: new sst.Secret(TRACE_HEADERS_SECRET, '').value,
  }
  const providerKeys = PROVIDER_SECRETS.map(({ secret, variable }) => ({
    variable,
    value: new sst.Secret(secret, '').value,
  }))
  const environmentOf = (spec: FunctionSpec) =>
    $resolve([
      ...variablesOf(spec).map(variable => ({ variable, value: values[variable] })),
      ...(spec.reach.includes('models') ? providerKeys : []),
    ]).apply(entries =>
      Object.fromEntries(
        entries.flatMap(({ variable, value }) => (value === '' ? [] : [[variable, value]])),
      ),
    )
  return (spec: FunctionSpec) => {
    const name = functionName(prefix, spec)
    const streaming = (path: string) => ({
      streaming: true,
      url: {
        cors: false,
        router: {
          instance: front,
          path,
          rewrite: { regex: `^${path}`, to: '' },
          readTimeout: `${router.STREAM_READ_TIMEOUT_SECONDS} seconds` as const,
        },
      },
    })
    const targets = $resolve({
      table: data.arn,
      bucket: objects.arn,
      stateMachine,
      functions: arn('lambda', `function:${prefix}`),
      identities: arn('ses', 'identity/'),
      emailSender,
      logGroup: arn('logs', `log-group:/aws/lambda/${name}`),
      deadLetters: deadLetters.arn,
    })
    const events = eventRulesOf(spec)
    return new sst.aws.Function(functionComponent(spec), {
      name,
      ...code.codeOf(spec),
      runtime: 'nodejs24.x',
      architecture: 'arm64',
      memory: `${spec.memoryMb} MB`,
      timeout: `${spec.timeoutSeconds} seconds`,
      environment: environmentOf(spec),
      permissions: targets.apply(to => code.allowed(spec, permissionsOf(spec, to))),
      logging: { retention: logRetention },
      ...(events ? { retries: events.retries } : {}),
      ...(spec.name === 'tick' && ticks !== undefined ? { concurrency: { reserved: ticks } } : {}),
      ...(spec.streams ? streaming(router.streamPath(spec)) : {}),
      // Where Node looks for packages: a bundle's own modules find them there by name.
      copyFiles: (spec.files ?? []).map(file => ({ from: `node_modules/${file}` })),
      // AWS's own policy for logs opens every function's; ours opens this one's. SST lets whoever is
      // in the account take on a function's role, which `sst dev` alone needs.
      transform: {
        role: {
          managedPolicyArns: [],
          ...($dev ? {} : { assumeRolePolicy: trustOf('lambda.amazonaws.com') }),
        },
        eventInvokeConfig: {
          maximumEventAgeInSeconds: events?.maxAgeSeconds,
          destinationConfig: { onFailure: { destination: deadLetters.arn } },
        },
      },
    })
  }
}

/**
 * What functions run, and what that can come to ask for. A deploy uploads what `npm run bundles`
 * makes; `sst dev` bundles the same handlers itself, as they change.
 */
const bundler = async () => {
  const { narrowed } = await import('./lib/deploy/narrow.ts')
  const { BUNDLE_HANDLER, prepareBundles } = await import('./lib/deploy/prepare-bundles.ts')
  type Statements = Parameters<typeof narrowed>[0]
  if ($dev)
    return {
      codeOf: ({ module }: FunctionSpec) => ({ handler: `functions/${module}.handler` }),
      allowed: (_: FunctionSpec, statements: Statements) => [...statements],
    }
  const { folder, bundles } = await prepareBundles($cli.paths.root, $app.stage)
  return {
    codeOf: ({ module }: FunctionSpec) => ({
      bundle: `${folder}/${module}`,
      handler: BUNDLE_HANDLER,
    }),
    allowed: ({ module }: FunctionSpec, statements: Statements) =>
      narrowed(statements, bundles[module]?.actions ?? []),
  }
}

const stateMachineName = (prefix: string) => `${prefix}workflow`

const trustOf = (service: string) => aws.iam.assumeRolePolicyForPrincipal({ Service: service })

const makeStateMachine = async (prefix: string, functions: { tick: Text; park: Text }) => {
  const { definition } = await import('./lib/workflow/definition.ts')
  const role = new aws.iam.Role('WorkflowRole', {
    assumeRolePolicy: trustOf('states.amazonaws.com'),
    inlinePolicies: [
      {
        name: 'invoke',
        policy: aws.iam.getPolicyDocumentOutput({
          statements: [
            { actions: ['lambda:InvokeFunction'], resources: [functions.tick, functions.park] },
          ],
        }).json,
      },
    ],
  })
  return new aws.sfn.StateMachine('Workflow', {
    name: stateMachineName(prefix),
    type: 'STANDARD',
    roleArn: role.arn,
    definition: $resolve(functions).apply(arns => JSON.stringify(definition(arns))),
  })
}
