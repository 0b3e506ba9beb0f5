// A scale set of machines that run scheduled-events-bridge, with a Service Bus topic, an event hub and, if wanted, a topic
// of Event Grid as destinations.
// Has the same content as main.json, which was checked. This file was not compiled (docs/operate/azure.md).
targetScope = 'resourceGroup'

@description('Name of the scale set, its network and its identity.')
@minLength(3)
@maxLength(31)
param name string = 'scheduled-events'

@description('Region of all resources.')
param location string = resourceGroup().location

@description('HTTPS URL of the .deb, which the machines download without a login.')
param packageUrl string

@description('SHA-256 of the .deb, 64 hex digits as in SHA256SUMS. The machines install no other package.')
@minLength(64)
@maxLength(64)
param packageSha256 string

@description('Public SSH key of the user azureuser. The network security group rejects all incoming connections until you change it.')
param adminPublicKey string

@description('Size of the machines, of generation 2 on x64.')
param vmSize string = 'Standard_D2s_v5'

@description('Number of machines.')
@minValue(1)
@maxValue(100)
param instances int = 2

@description('Spot machines are cheaper, but Azure can evict them at any time. simulate-eviction triggers an eviction.')
@allowed(['Regular', 'Spot'])
param priority string = 'Regular'

@description('Notice before a machine is deleted, PT5M to PT15M.')
param terminateNotice string = 'PT10M'

@description('Whether Azure itself approves a restart that a user orders. It then starts at once, without notice.')
param approveUserReboots bool = false

@description('Whether Azure itself approves a redeploy that a user orders. It then starts at once, without notice.')
param approveUserRedeploys bool = false

@description('Whether the machines also send to a topic of Event Grid, by a webhook with their identity.')
param eventGrid bool = false

var serviceBusName = '${name}-bus-${uniqueString(resourceGroup().id)}'
var eventHubsName = '${name}-eh-${uniqueString(resourceGroup().id)}'
var gridName = '${name}-grid-${uniqueString(resourceGroup().id)}'
var serviceBusDataSender = '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39'
var serviceBusDataReceiver = '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'
var eventHubsDataSender = '2b629674-e913-4c01-ae53-ef4638d8f975'
var eventGridDataSender = 'd5a91429-5739-47e2-a06b-3470a27159e7'
var cloudInit = loadTextContent('cloud-init.yaml')

resource serviceBus 'Microsoft.ServiceBus/namespaces@2024-01-01' = {
  name: serviceBusName
  location: location
  sku: { name: 'Standard', tier: 'Standard' }
  properties: { disableLocalAuth: true, minimumTlsVersion: '1.2' }
}

resource topic 'Microsoft.ServiceBus/namespaces/topics@2024-01-01' = {
  parent: serviceBus
  name: 'scheduled-events'
  properties: {
    requiresDuplicateDetection: true
    duplicateDetectionHistoryTimeWindow: 'P1D'
    supportOrdering: true
    defaultMessageTimeToLive: 'P14D'
  }
}

resource all 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2024-01-01' = {
  parent: topic
  name: 'all'
  properties: { requiresSession: true, lockDuration: 'PT5S', maxDeliveryCount: 100, deadLetteringOnMessageExpiration: true }
}

resource approvals 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = {
  parent: serviceBus
  name: 'approvals'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 100
    defaultMessageTimeToLive: 'PT1H'
    deadLetteringOnMessageExpiration: true
  }
}

resource eventHubs 'Microsoft.EventHub/namespaces@2024-01-01' = {
  name: eventHubsName
  location: location
  sku: { name: 'Standard', tier: 'Standard' }
  properties: { kafkaEnabled: true, disableLocalAuth: true, minimumTlsVersion: '1.2' }
}

resource hub 'Microsoft.EventHub/namespaces/eventhubs@2024-01-01' = {
  parent: eventHubs
  name: 'scheduled-events'
  properties: {
    partitionCount: 4
    retentionDescription: { cleanupPolicy: 'Delete', retentionTimeInHours: 168 }
  }
}

resource grid 'Microsoft.EventGrid/topics@2025-02-15' = if (eventGrid) {
  name: gridName
  location: location
  properties: { inputSchema: 'CloudEventSchemaV1_0', disableLocalAuth: true, minimumTlsVersionAllowed: '1.2' }
}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
}

resource mayPublish 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(topic.id, identity.id, serviceBusDataSender)
  scope: topic
  properties: {
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', serviceBusDataSender)
  }
}

resource mayReceive 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(approvals.id, identity.id, serviceBusDataReceiver)
  scope: approvals
  properties: {
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', serviceBusDataReceiver)
  }
}

resource mayWrite 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(hub.id, identity.id, eventHubsDataSender)
  scope: hub
  properties: {
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', eventHubsDataSender)
  }
}

resource mayPublishToGrid 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (eventGrid) {
  name: guid(grid.id, identity.id, eventGridDataSender)
  scope: grid
  properties: {
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', eventGridDataSender)
  }
}

resource closed 'Microsoft.Network/networkSecurityGroups@2024-05-01' = {
  name: name
  location: location
  properties: {
    securityRules: [
      {
        name: 'nobody-comes-in'
        properties: {
          priority: 100
          direction: 'Inbound'
          access: 'Deny'
          protocol: '*'
          sourceAddressPrefix: '*'
          sourcePortRange: '*'
          destinationAddressPrefix: '*'
          destinationPortRange: '*'
        }
      }
    ]
  }
}

resource address 'Microsoft.Network/publicIPAddresses@2024-05-01' = {
  name: name
  location: location
  sku: { name: 'Standard' }
  properties: { publicIPAllocationMethod: 'Static' }
}

resource wayOut 'Microsoft.Network/natGateways@2024-05-01' = {
  name: name
  location: location
  sku: { name: 'Standard' }
  properties: { publicIpAddresses: [{ id: address.id }] }
}

resource network 'Microsoft.Network/virtualNetworks@2024-05-01' = {
  name: name
  location: location
  properties: {
    addressSpace: { addressPrefixes: ['10.0.0.0/24'] }
    subnets: [
      {
        name: 'machines'
        properties: {
          addressPrefix: '10.0.0.0/24'
          defaultOutboundAccess: false
          networkSecurityGroup: { id: closed.id }
          natGateway: { id: wayOut.id }
        }
      }
    ]
  }
}

resource scaleSet 'Microsoft.Compute/virtualMachineScaleSets@2024-11-01' = {
  name: name
  location: location
  sku: { name: vmSize, capacity: instances }
  identity: { type: 'UserAssigned', userAssignedIdentities: { '${identity.id}': {} } }
  properties: {
    orchestrationMode: 'Uniform'
    overprovision: false
    upgradePolicy: { mode: 'Manual' }
    scheduledEventsPolicy: {
      userInitiatedReboot: { automaticallyApprove: approveUserReboots }
      userInitiatedRedeploy: { automaticallyApprove: approveUserRedeploys }
    }
    virtualMachineProfile: {
      priority: priority
      evictionPolicy: priority == 'Spot' ? 'Delete' : null
      osProfile: {
        computerNamePrefix: 'bridge'
        adminUsername: 'azureuser'
        customData: base64(replace(replace(replace(replace(replace(replace(replace(
          cloudInit,
          '__SERVICE_BUS__', '${serviceBusName}.servicebus.windows.net'),
          '__EVENT_HUBS__', '${eventHubsName}.servicebus.windows.net'),
          '__PACKAGE_URL__', packageUrl),
          '__PACKAGE_SHA256__', packageSha256),
          '__CLIENT_ID__', identity.properties.clientId),
          '__GRID__', eventGrid ? '' : '# '),
          '__GRID_URL__', eventGrid ? grid!.properties.endpoint : ''))
        linuxConfiguration: {
          disablePasswordAuthentication: true
          ssh: { publicKeys: [{ path: '/home/azureuser/.ssh/authorized_keys', keyData: adminPublicKey }] }
        }
      }
      storageProfile: {
        imageReference: { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku: 'server', version: 'latest' }
        osDisk: { createOption: 'FromImage', managedDisk: { storageAccountType: 'StandardSSD_LRS' } }
      }
      securityProfile: {
        securityType: 'TrustedLaunch'
        uefiSettings: { secureBootEnabled: true, vTpmEnabled: true }
      }
      networkProfile: {
        networkInterfaceConfigurations: [
          {
            name: 'primary'
            properties: {
              primary: true
              ipConfigurations: [{ name: 'internal', properties: { subnet: { id: '${network.id}/subnets/machines' } } }]
            }
          }
        ]
      }
      scheduledEventsProfile: {
        terminateNotificationProfile: { enable: priority == 'Regular', notBeforeTimeout: terminateNotice }
        osImageNotificationProfile: { enable: true, notBeforeTimeout: 'PT15M' }
      }
    }
  }
  dependsOn: [topic, approvals, hub, grid]
}

output serviceBus string = '${serviceBusName}.servicebus.windows.net'
output eventHubs string = '${eventHubsName}.servicebus.windows.net'
output approvals string = approvals.id
output scaleSet string = scaleSet.id
