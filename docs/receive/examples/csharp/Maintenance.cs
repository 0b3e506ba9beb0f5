// One CloudEvent → at most one step of its scheduled event: unknown → preparing → prepared → started → ended.
using System.Text.Json;
using System.Text.RegularExpressions;
using Azure.Messaging;

/// <summary><c>data</c> of a CloudEvent about one scheduled event. Unknown members are ignored.</summary>
record Notice(string EventId, string? EventType, string? PreviousStatus, string[]? Resources, DateTimeOffset? NotBefore,
    string? Outcome, string? Reason, bool Drill, Observer Observer)
{
    public const string Prefix = "io.github.scheduled-events-bridge.";
    static readonly string[] Changes = ["scheduled.v1", "updated.v1", "started.v1", "ended.v1", "approval.failed.v1"];

    /// <summary>Returns null if the type asks nothing of this program. Throws if the data are not of their type.</summary>
    public static Notice? Of(CloudEvent cloudEvent)
    {
        if (!Changes.Any(change => cloudEvent.Type == Prefix + change)) return null;
        var notice = cloudEvent.Data?.ToObjectFromJson<Notice>(JsonSerializerOptions.Web) ?? throw new FormatException("no data");
        var isWhole = !string.IsNullOrEmpty(notice.EventId) && notice.Observer is not null
            && (notice.Resources is not null || cloudEvent.Type.EndsWith("approval.failed.v1"));
        return isWhole ? notice : throw new FormatException("data without eventId, resources or observer");
    }
}

record Observer(string? Name);

/// <summary>The last <c>ended</c> of an event, and when it came.</summary>
record Mark(int Round, DateTimeOffset Time, string? Observer, DateTimeOffset At);

record Entry(string Phase, HashSet<string> Handled, string? Seen = null, int Tries = 0, Mark? Ended = null)
{
    public bool IsOpen => Phase is "preparing" or "prepared" or "started";
}

/// <summary>What this machine has done for each scheduled event. The file is flushed before each step, so it survives a kill.</summary>
class Maintenance(string file, string machine, Func<string, string, Task<string>> approve)
{
    static readonly TimeSpan Stale = TimeSpan.FromMinutes(10), KeepEnded = TimeSpan.FromDays(7);
    // The next CloudEvent of the event says what follows. After any other answer somebody has to look.
    static readonly string[] NewsFollows = ["sent", "changed", "started", "ended", "unknown", "old", "dry-run"];
    readonly SemaphoreSlim turn = new(1); // prepare and recover never run side by side
    Dictionary<string, Entry> entries =
        File.Exists(file) ? JsonSerializer.Deserialize<Dictionary<string, Entry>>(File.ReadAllBytes(file))! : [];
    int skipped;

    /// <summary>Takes the machine out of service: put your own work here. It runs again after a crash or an update.</summary>
    static Task DrainAsync(Notice? notice, CancellationToken stop) =>
        Task.Delay(TimeSpan.FromSeconds(int.Parse(Environment.GetEnvironmentVariable("PREPARE_SECONDS") ?? "5")), stop);

    /// <summary>Takes the machine into service again: put your own work here.</summary>
    static Task UndrainAsync() => Task.CompletedTask;

    /// <summary>Prepares again, since this program or the machine may have ended in the middle of an event.</summary>
    public async Task ResumeAsync()
    {
        if (OpenBeside("") > 0) await DrainAsync(null, CancellationToken.None);
    }

    /// <summary>Takes one step. If it throws, the CloudEvent must come again.</summary>
    public async Task HandleAsync(CloudEvent cloudEvent, Notice? notice, CancellationToken stop)
    {
        await turn.WaitAsync(stop);
        try
        {
            if (await StepAsync(cloudEvent, notice, stop) is { } reason) Console.WriteLine($"passed {cloudEvent.Id}: {reason}");
        }
        finally
        {
            turn.Release();
        }
    }

    /// <summary>Counts and reports what nobody can read. It never stops the program.</summary>
    public void Skip(string place, Exception error) =>
        Console.WriteLine($"skipped {Interlocked.Increment(ref skipped)}: {place}: {error.GetType().Name}");

    /// <summary>Returns why there was nothing to do, or null.</summary>
    async Task<string?> StepAsync(CloudEvent cloudEvent, Notice? notice, CancellationToken stop)
    {
        if (notice is null) return "other type";
        var key = $"{cloudEvent.Source} {notice.EventId.ToLowerInvariant()}";
        var entry = entries.GetValueOrDefault(key) ?? new Entry("unknown", []);
        var change = cloudEvent.Type[Notice.Prefix.Length..];
        string? done = null; // printed once it is on disk
        if (entry.Handled.Contains(cloudEvent.Id)) return "repeat";
        if (change == "approval.failed.v1")
        {
            if (!entry.IsOpen) return "not for this machine";
            entry = await RefusedAsync(entry, notice, stop);
        }
        else if (entry.Ended is { } last && (!entry.IsOpen || change == "ended.v1") && !MayFollow(last, cloudEvent, notice)) return "ended";
        else if (change == "ended.v1") (entry, done) = await EndAsync(key, entry, cloudEvent, notice);
        else if (!notice.Resources!.Contains(machine, StringComparer.OrdinalIgnoreCase)) return "not for this machine";
        else if (change == "started.v1")
        {
            // Without notice there is nothing to approve.
            if (entry.Phase != "prepared") entry = await PrepareAsync(key, entry, notice, stop);
            (entry, done) = (entry with { Phase = "started" }, $"started {notice.EventId}");
        }
        else if (notice.NotBefore < DateTimeOffset.UtcNow - Stale) return "old news";
        else if (entry.Phase == "started" && notice.PreviousStatus != "Started") return "started";
        else
        {
            entry = await PrepareAsync(key, entry with { Seen = cloudEvent.Id, Tries = 0 }, notice, stop);
            if (entry.Phase == "prepared") await AskAsync(entry, notice);
        }
        Put(key, entry with { Handled = [.. entry.Handled, cloudEvent.Id] });
        if (done is not null) Console.WriteLine(done);
        return null;
    }

    /// <summary>If it fails, or takes until NotBefore, nobody approves, and Azure starts the event.</summary>
    async Task<Entry> PrepareAsync(string key, Entry entry, Notice notice, CancellationToken stop)
    {
        entry = Put(key, entry with { Phase = "preparing" }); // on disk before the work: after a crash there is something to recover
        Console.WriteLine($"preparing {notice.EventId} {notice.EventType}{(notice.Drill ? " (drill)" : "")}");
        var left = notice.NotBefore - DateTimeOffset.UtcNow;
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(stop);
        limit.CancelAfter(left > TimeSpan.Zero ? left.Value : TimeSpan.FromMinutes(10));
        try
        {
            await DrainAsync(notice, limit.Token);
        }
        catch (Exception error) when (!stop.IsCancellationRequested)
        {
            Console.WriteLine($"not prepared, so not approved: {notice.EventId}: {error.Message}");
            return entry;
        }
        return Put(key, entry with { Phase = "prepared" });
    }

    async Task<(Entry, string)> EndAsync(string key, Entry entry, CloudEvent cloudEvent, Notice notice)
    {
        var left = OpenBeside(key);
        if (entry.IsOpen && left == 0) await UndrainAsync();
        var done = !entry.IsOpen ? $"ended {notice.EventId}: {notice.Outcome}, was not prepared"
            : left > 0 ? $"ended {notice.EventId}: {notice.Outcome}, {left} left"
            : $"recovered {notice.EventId}: {notice.Outcome}";
        var mark = new Mark(RoundOf(cloudEvent.Id), cloudEvent.Time!.Value, notice.Observer.Name, DateTimeOffset.UtcNow);
        return (entry with { Phase = "ended", Ended = mark }, done);
    }

    async Task AskAsync(Entry entry, Notice notice) => Report(notice.EventId, await approve(notice.EventId, entry.Seen!));

    /// <summary>Reads <c>approval.failed</c>. If the metadata service said no, it asks again, five times.</summary>
    async Task<Entry> RefusedAsync(Entry entry, Notice notice, CancellationToken stop)
    {
        if (notice.Reason != "refused" || entry.Phase != "prepared" || entry.Tries == 5)
        {
            Report(notice.EventId, notice.Reason ?? "");
            return entry;
        }
        entry = entry with { Tries = entry.Tries + 1 };
        await Task.Delay(TimeSpan.FromSeconds(entry.Tries), stop);
        await AskAsync(entry, notice);
        return entry;
    }

    static void Report(string eventId, string result) =>
        Console.WriteLine($"approval {eventId}: {result}{(NewsFollows.Contains(result) ? "" : ", needs an operator")}");

    /// <summary>Newer than the last <c>ended</c>: of a later round, or later by the same observer.</summary>
    static bool MayFollow(Mark ended, CloudEvent cloudEvent, Notice notice) =>
        !cloudEvent.Type.EndsWith(".updated.v1")
        && (RoundOf(cloudEvent.Id) > ended.Round || (notice.Observer.Name == ended.Observer && cloudEvent.Time > ended.Time));

    /// <summary>N of <c>…:rN</c> at the end of an id; 1 without it.</summary>
    static int RoundOf(string id) => Regex.Match(id, @":r(\d+)$") is { Success: true } found ? int.Parse(found.Groups[1].Value) : 1;

    int OpenBeside(string key) => entries.Count(each => each.Key != key && each.Value.IsOpen);

    /// <summary>Stores an entry. If the disk refuses it, memory keeps the old one, too: the CloudEvent comes again.</summary>
    Entry Put(string key, Entry entry)
    {
        var oldest = DateTimeOffset.UtcNow - KeepEnded;
        var next = entries.Where(each => each.Value.IsOpen || each.Value.Ended?.At > oldest).ToDictionary();
        next[key] = entry;
        using (var stream = new FileStream(file + ".new", FileMode.Create))
        {
            JsonSerializer.Serialize(stream, next);
            stream.Flush(flushToDisk: true);
        }
        File.Move(file + ".new", file, overwrite: true);
        entries = next;
        return entry;
    }
}
