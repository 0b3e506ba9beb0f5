// Messages of a subscription with sessions → Maintenance.cs; approvals → a queue. Not run: see README.md.
using System.Globalization;
using Azure.Identity;
using Azure.Messaging;
using Azure.Messaging.ServiceBus;

var connection = Setting("SERVICE_BUS", "my-ns.servicebus.windows.net");
await using var client = connection.StartsWith("Endpoint=")
    ? new ServiceBusClient(connection)
    : new ServiceBusClient(connection, new DefaultAzureCredential());
await using var approvals = client.CreateSender(Setting("APPROVALS", "approvals"));
var maintenance = new Maintenance(Setting("STATE", "maintenance.json"), Setting("MACHINE", Environment.MachineName), ApproveAsync);
await maintenance.ResumeAsync();

// One scheduled event is one session, and its messages come one after the other. The lock of the subscription is short (PT5S), so that
// a killed program blocks a session for 5 s only. The processor renews the lock while the program prepares.
var options = new ServiceBusSessionProcessorOptions
{
    AutoCompleteMessages = false,
    MaxConcurrentSessions = 8,
    MaxConcurrentCallsPerSession = 1,
    MaxAutoLockRenewalDuration = TimeSpan.FromMinutes(15),
    SessionIdleTimeout = TimeSpan.FromSeconds(1), // then the next session has its turn
};
await using var processor = client.CreateSessionProcessor(Setting("TOPIC", "maintenance"), Setting("SUBSCRIPTION", "orders"), options);
processor.ProcessMessageAsync += ReceiveAsync;
processor.ProcessErrorAsync += args =>
{
    Console.Error.WriteLine($"{args.ErrorSource}: {args.Exception.Message}");
    return Task.CompletedTask;
};
await processor.StartProcessingAsync();
Console.WriteLine("ready");
await Task.Delay(Timeout.Infinite);

async Task ReceiveAsync(ProcessSessionMessageEventArgs args)
{
    CloudEvent cloudEvent;
    Notice? notice;
    try
    {
        cloudEvent = EventIn(args.Message);
        notice = Notice.Of(cloudEvent);
    }
    catch (Exception error) // whatever the SDK throws: the message will be no better the next time
    {
        maintenance.Skip(args.Message.MessageId, error);
        await args.DeadLetterMessageAsync(args.Message, "not a CloudEvent", error.GetType().Name);
        return;
    }
    try
    {
        await maintenance.HandleAsync(cloudEvent, notice, args.CancellationToken);
    }
    catch
    {
        await Task.Delay(TimeSpan.FromSeconds(1)); // it comes again at once, and MaxDeliveryCount counts
        throw;
    }
    await args.CompleteMessageAsync(args.Message);
}

async Task<string> ApproveAsync(string eventId, string seen)
{
    var body = new { StartRequests = new[] { new { EventId = eventId, Seen = seen } } };
    await approvals.SendMessageAsync(new ServiceBusMessage(BinaryData.FromObjectAsJson(body)) { ContentType = "application/json" });
    return "sent"; // what becomes of it comes as approval.submitted or approval.failed
}

// Structured or binary, as the content type says. The constructor of CloudEvent would invent an id and a time.
static CloudEvent EventIn(ServiceBusReceivedMessage message)
{
    if (message.ContentType?.StartsWith("application/cloudevents+json", StringComparison.OrdinalIgnoreCase) == true)
        return CloudEvent.Parse(message.Body) ?? throw new FormatException("an empty list");
    string Attribute(string name) =>
        (message.ApplicationProperties.TryGetValue("cloudEvents_" + name, out var value)
            || message.ApplicationProperties.TryGetValue("cloudEvents:" + name, out value))
        && value is string { Length: > 0 } text ? text : throw new FormatException($"no {name}");
    if (Attribute("specversion") != "1.0") throw new FormatException("another specversion");
    return new CloudEvent(Attribute("source"), Attribute("type"), message.Body, message.ContentType ?? "")
    {
        Id = Attribute("id"),
        Time = DateTimeOffset.Parse(Attribute("time"), CultureInfo.InvariantCulture),
    };
}

static string Setting(string name, string otherwise) =>
    Environment.GetEnvironmentVariable(name) is { Length: > 0 } value ? value : otherwise;
